// SPDX-License-Identifier: Apache-2.0
#include "formats/log/nccl_exception.h"

#include "formats/log/families.h"
#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr int kFollowing = 8;  // lines in which "Last error:" and its text are looked for

struct Result {
  std::string_view text;
  std::int64_t code;  // ncclResult_t
};
// ncclGetErrorString, nccl.h
constexpr Result kResults[] = {
    {"unhandled cuda error", 1},
    {"unhandled system error", 2},
    {"internal error", 3},
    {"invalid argument", 4},
    {"invalid usage", 5},
    {"remote process exited or there was a network error", 6},
    {"NCCL operation in progress", 7},
};

std::int64_t result_of(std::string_view text) {
  for (const Result& result : kResults) {
    if (has(text, result.text)) return result.code;
  }
  return -1;
}

// "2.20.5" behind "NCCL version ".
std::string_view version_in(std::string_view text) {
  const auto rest = behind(text, "NCCL version ");
  if (!rest) return {};
  std::string_view version = rest->substr(0, rest->find_first_not_of("0123456789."));
  while (version.ends_with('.')) version.remove_suffix(1);
  return version;
}

}  // namespace

bool NcclException::take(const Line& line, Facts& facts) {
  // NCCL's own lines are its family's.
  if (line.nccl != NcclLevel::kNone) return false;
  const std::string_view text = line.message;
  if (const auto rank = behind(text, "remote error detected")) {
    facts.add(event_of(LogEventKind::kPeerError, 0, rank_after(*rank, "rank:")), line);
    return true;
  }
  if (has(text, "NCCLABORTEDCOMM:")) {
    facts.add(event_of(LogEventKind::kPeerError, 0, rank_after(text, "from rank: ")), line);
    return true;
  }
  if (has(text, "ncclRemoteError")) {
    facts.add(event_of(LogEventKind::kPeerError), line);
    return true;
  }
  const bool aborted = has(text, "NCCL communicator was aborted");
  const auto error = behind(text, "NCCL error");
  const bool called = has(text, " failed: unhandled ");  // Horovod: "ncclAllReduce failed: …"
  if (!error && !aborted && !called) {
    const auto last = behind(text, "Last error:");
    if (!last || trimmed(*last).empty()) return false;
    return take_nccl_warning(trimmed(*last), line, facts);
  }
  // "NCCL error in: …" and "NCCL error: …" only: headings such as "NCCL errors" tell nothing.
  const std::string_view rest = error ? *error : text;
  if (error && !rest.starts_with(" in") && !rest.starts_with(":") && !rest.starts_with(" ")) return false;
  const std::int64_t code = result_of(rest);
  const std::string_view version = version_in(rest);
  if (error && !rest.starts_with(" in:") && !rest.starts_with(" in ") && code < 0) return false;
  facts.add(event_of(LogEventKind::kNcclError, code, -1, version), line);
  x_lines_left = kFollowing;
  x_last_error = false;
  x_origin = line.origin;
  if (const auto last = behind(text, "Last error:"); last && !trimmed(*last).empty()) {
    take_nccl_warning(trimmed(*last), line, facts);
    x_lines_left = 0;
  }
  return true;
}

bool NcclException::take_following(const Line& line, Facts& facts) {
  if (x_lines_left == 0) return false;
  --x_lines_left;
  if (line.origin != x_origin) return false;
  const std::string_view text = trimmed(line.message);
  if (text.empty()) return false;
  if (x_last_error) {
    x_last_error = false;
    x_lines_left = 0;
    return take_nccl_warning(text, line, facts);
  }
  if (const auto last = behind(text, "Last error:")) {
    if (trimmed(*last).empty()) {
      x_last_error = true;
      return true;
    }
    x_lines_left = 0;
    return take_nccl_warning(trimmed(*last), line, facts);
  }
  return false;
}

}  // namespace unhang::formats::log
