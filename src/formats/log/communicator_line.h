// SPDX-License-Identifier: Apache-2.0
//
// A line about one communicator: "ncclCommInitRank comm 0x… rank 3 nranks 8 … - Init START" in the wordings
// of all releases. The names of the fields are the key; their order and number differ by release.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unhang::formats::log {

enum class CommunicatorStep : std::uint8_t {
  kNone,
  kInitStart,
  kInitComplete,
  kDestroy,  // Destroy COMPLETE or START
  kAbort,    // Abort and Revoke
  kOther,    // the fields only
};

// Views into the line.
struct CommunicatorLine {
  CommunicatorStep step = CommunicatorStep::kNone;
  std::string_view function;  // "ncclCommInitRank"; empty: not printed
  std::uint64_t pointer = 0;
  std::optional<std::uint64_t> id, parent;
  std::int32_t rank = -1, ranks = -1, cuda_device = -1, nvml_device = -1;
  std::int32_t nodes = -1, local_ranks = -1;
  std::string_view bus_id;
};

// nullopt where `text` is no such line.
std::optional<CommunicatorLine> read_communicator_line(std::string_view text);

// "AllReduce: opCount 28c sendbuff … count 512 datatype 7 op 0 root 0 comm 0x… [nranks=4] stream …".
struct CallLine {
  std::string_view kind;
  std::uint64_t op_count = 0, count = 0, pointer = 0;
  std::int32_t datatype = -1, op = -1, root = -1, ranks = -1;
};
std::optional<CallLine> read_call_line(std::string_view text);

}  // namespace unhang::formats::log
