// SPDX-License-Identifier: Apache-2.0
//
// Reports of a machine that are pasted beside or into logs: what it is made of, and how its parts reach each
// other.
#include "formats/log/device_reports.h"
#include "formats/log/families.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::string_view kTriggers[] = {
    // nvidia-smi topo
    "GPU0", "GPU1", "topo -p2p", "NIC Legend",
    // peer access
    " Access Peer Device=", "Peer access from ", "P2P Connectivity Matrix",
    // nvidia-smi
    "NVSMI LOG", "GPU 0000", "Fabric", "--query-gpu=", "pci.bus_id", "driver_version", "utilization.gpu",
    "power.draw", "pcie.link.", "memory.total", " 00000000:", ",00000000:", "Driver Version: ", "(UUID: GPU-",
    "<inactive>", "all links are in", "Failed to initialize NVML", "NVIDIA-SMI has failed",
    "No devices were found",
    // lspci
    "PCI bridge: ", "ACSCtl:", "(cap 0d @",
    // adapters and limits
    "hca_id:", "GID[", "INDEX", "PORT_DOWN", "CA 'mlx", "CA 'irdma", "CA 'bnxt", "CA 'ib",
    "Infiniband device '", " ==> ", "state DOWN", "<NO-CARRIER", " /dev/shm", "max locked memory"};

// nvidia-smi itself does not get through.
bool take_refusal(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  LogEvent event;
  if (const auto reason = behind(text, "Failed to initialize NVML: ")) {
    event.kind =
        has(*reason, "version mismatch") ? LogEventKind::kDriverMismatch : LogEventKind::kDeviceUnavailable;
    event.detail = shown(trimmed(*reason));
  } else if (has(text, "NVIDIA-SMI has failed") || trimmed(text) == "No devices were found") {
    event.kind = LogEventKind::kDeviceUnavailable;
    event.detail = has(text, "has failed") ? "no communication with the driver" : "no devices were found";
  } else {
    return false;
  }
  facts.add(std::move(event), line);
  return true;
}

class TopologyFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }

  bool open() const override {
    for (const DeviceReport* report : x_reports) {
      if (report->open()) return true;
    }
    return false;
  }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone) return false;
    // A report that is open has the first word. Each sees the line, so that it notices its own end.
    for (DeviceReport* report : x_reports) {
      if (report->open() && report->take(line, facts)) return true;
    }
    if (take_refusal(line, facts) || take_limit(line, facts)) return true;
    for (DeviceReport* report : x_reports) {
      if (!report->open() && report->take(line, facts)) return true;
    }
    return false;
  }

  void finish(Facts& facts) override {
    for (DeviceReport* report : x_reports) report->finish(facts);
  }

 private:
  TopologyMatrix x_matrix;
  PeerAccessTest x_peers;
  GpuReport x_report;
  GpuCsv x_csv;
  GpuScreen x_screen;
  NvlinkStatus x_nvlink;
  AccessControl x_access;
  AdapterReport x_adapters;
  DeviceReport* x_reports[8] = {&x_matrix, &x_peers,  &x_report, &x_csv,
                                &x_screen, &x_nvlink, &x_access, &x_adapters};
};

}  // namespace

std::unique_ptr<Family> topology_family() {
  return std::make_unique<TopologyFamily>();
}

}  // namespace unhang::formats::log
