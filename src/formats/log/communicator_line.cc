// SPDX-License-Identifier: Apache-2.0
#include "formats/log/communicator_line.h"

#include "formats/log/find_text.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

std::int32_t small(std::int64_t value) {
  return static_cast<std::int32_t>(value >= 0 && value <= 100'000'000 ? value : -1);
}

bool read_small(Scanner& in, std::int32_t& into) {
  std::int64_t value = 0;
  if (!in.number(value)) return false;
  into = small(value);
  return true;
}

// Where the fields begin: behind "[Rank 3] " and the name of the function, at "comm 0x".
bool begin(Scanner& in, CommunicatorLine& read) {
  if (in.take("[Rank ")) {
    std::int64_t rank = 0;
    if (!in.digits(1, 9, rank) || !in.take("] ")) return false;
  }
  if (in.rest().starts_with("ncclComm")) {
    read.function = in.until(" \t");
    in.take(' ');
  } else if (in.rest().starts_with("bootstrapSplit: ")) {
    read.function = "ncclCommSplit";
    in.take("bootstrapSplit: ");
  }
  return in.rest().starts_with("comm 0x");
}

CommunicatorStep step_in(std::string_view tail) {
  if (find_text(tail, "Init START") != std::string_view::npos) return CommunicatorStep::kInitStart;
  if (find_text(tail, "Init COMPLETE") != std::string_view::npos) return CommunicatorStep::kInitComplete;
  if (find_text(tail, "Destroy") != std::string_view::npos) return CommunicatorStep::kDestroy;
  if (find_text(tail, "Abort") != std::string_view::npos ||
      find_text(tail, "Revoke") != std::string_view::npos) {
    return CommunicatorStep::kAbort;
  }
  return CommunicatorStep::kOther;
}

}  // namespace

std::optional<CommunicatorLine> read_communicator_line(std::string_view text) {
  CommunicatorLine read;
  Scanner in(text);
  if (!begin(in, read)) return {};
  constexpr int kFields = 24;
  for (int i = 0; i < kFields && !in.at_end(); ++i) {
    in.blanks();
    const std::size_t field = in.at();
    if (in.peek() == '-') break;
    const std::string_view name = in.word();
    in.blanks();
    std::uint64_t value = 0;
    bool known = true;
    if (name == "comm" || name == "Comm") {
      known = in.hex(read.pointer);
    } else if (name == "parent") {
      known = in.hex(value);
      if (known && value != 0) read.parent = value;
    } else if (name == "commId") {
      known = in.hex(value);
      if (known) read.id = value;
    } else if (name == "busId") {
      read.bus_id = in.until(" \t-");
    } else if (name == "rank") {
      known = read_small(in, read.rank);
    } else if (name == "nranks" || name == "nRanks") {
      known = read_small(in, read.ranks);
    } else if (name == "cudaDev") {
      known = read_small(in, read.cuda_device);
    } else if (name == "nvmlDev") {
      known = read_small(in, read.nvml_device);
    } else if (name == "nNodes") {
      known = read_small(in, read.nodes);
    } else if (name == "localRanks") {
      known = read_small(in, read.local_ranks);
    } else {
      in.until(" \t-");  // splitCount, childCount, color, key, localRank, MNNVL …: a name and a value
      if (in.peek() == '-' && in.peek(1) != ' ') in.until(" \t");
    }
    if (!known) {
      in.move_to(field);
      break;
    }
  }
  if (read.pointer == 0) return {};
  read.step = step_in(in.rest());
  // Another process's line cut this one off, perhaps in the middle of a number.
  if (read.step == CommunicatorStep::kOther && !read.function.empty() && in.at_end()) read.parent.reset();
  return read;
}

std::optional<CallLine> read_call_line(std::string_view text) {
  CallLine read;
  Scanner in(text);
  read.kind = in.until(": ");
  if (read.kind.empty() || !in.take(": opCount ") || !in.hex(read.op_count)) return {};
  constexpr int kFields = 16;
  for (int i = 0; i < kFields && !in.at_end(); ++i) {
    in.blanks();
    std::int64_t value = 0;
    if (in.take("[nranks=")) {
      if (in.number(value)) read.ranks = small(value);
      in.take(']');
      continue;
    }
    const std::string_view name = in.word();
    in.blanks();
    if (name == "comm") {
      in.hex(read.pointer);
    } else if (name == "count" && in.number(value)) {
      read.count = static_cast<std::uint64_t>(value < 0 ? 0 : value);
    } else if (name == "datatype" && in.number(value)) {
      read.datatype = small(value);
    } else if (name == "op" && in.number(value)) {
      read.op = small(value);
    } else if (name == "root" && in.number(value)) {
      read.root = small(value);
    } else {
      in.word();
    }
  }
  if (read.pointer == 0) return {};
  return read;
}

}  // namespace unhang::formats::log
