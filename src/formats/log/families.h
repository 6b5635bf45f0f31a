// SPDX-License-Identifier: Apache-2.0
//
// The families of messages: each recognises the lines of one kind of writer. The spine asks a family only
// where one of its triggers stands in the line (or where it holds a half-read record), so a family may be as
// careful as it likes. A family never guesses: what it does not know it leaves.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "formats/log/facts.h"
#include "formats/log/line.h"

namespace unhang::formats::log {

class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  // Texts of at least 4 bytes, case-sensitive, one of which stands in every line where a record of this
  // family can begin.
  virtual std::span<const std::string_view> triggers() const = 0;
  // Texts by which it spares itself work: Line::may_hold() tells whether one of an owner's stands in a line
  // that was handed over.
  virtual std::span<const OwnedKeyword> keywords() const { return {}; }
  // Whether the line was recognised. Called for lines with a trigger, and for every line while `open()`.
  virtual bool take(const Line& line, Facts& facts) = 0;
  // A record is half read and goes on in the next lines. Bounded by the family itself (some dozens of lines).
  virtual bool open() const { return false; }
  // After the last line.
  virtual void finish(Facts& facts) { (void)facts; }
};

// One maker a family; reader.cc lists them in the order in which they are asked.
std::unique_ptr<Family> nccl_family();      // lines with NCCL's own prefix, or a text that NCCL prints
std::unique_ptr<Family> watchdog_family();  // ProcessGroupNCCL: time-outs, heartbeat, desync, exceptions
std::unique_ptr<Family> store_family();     // TCPStore, rendezvous, gloo
std::unique_ptr<Family> launcher_family();  // torchrun, srun, mpirun, Ray, Kubernetes
std::unique_ptr<Family> engine_family();    // vLLM, SGLang, TensorRT-LLM
std::unique_ptr<Family> activity_family();  // checkpoints, data, weights, compilation, steps, exceptions
std::unique_ptr<Family> kernel_family();    // Xid, SXid, AER, OOM, hung tasks, NIC links, IOMMU
std::unique_ptr<Family> fabric_manager_family();
std::unique_ptr<Family> topology_family();     // nvidia-smi topo -m, -p2p, nvlink -s, -q, ACS, ibv_devinfo
std::unique_ptr<Family> bandwidth_family();    // nccl-tests
std::unique_ptr<Family> accelerator_family();  // CUDA_ERROR_… names, ROCm
std::unique_ptr<Family> mpi_family();

// The texts of NCCL's warnings, wherever they stand ("Last error:" of an exception, a pasted fragment).
// Adds the event and returns true where `message` is one.
bool take_nccl_warning(std::string_view message, const Line& line, Facts& facts);

}  // namespace unhang::formats::log
