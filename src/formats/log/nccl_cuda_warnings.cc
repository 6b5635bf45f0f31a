// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "formats/log/cuda_error_text.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_texts.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

std::string_view quoted(std::string_view text) {
  const std::size_t open = text.find('\'');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('\'', open + 1);
  return text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
}

bool cuda_failure(std::string_view text, const Line& line, Facts& facts) {
  const std::string_view rest = text_behind(text, "Cuda failure");
  if (rest.empty()) {
    if (!has(text, "Failed to CUDA") || !has(text, "alloc")) return false;
    facts.add(event_of(LogEventKind::kCudaOutOfMemory, 0, -1, text, line.source_file), line);
    return true;
  }
  std::string_view error = quoted(rest);
  std::int64_t code = -1;
  if (const auto number = number_at(rest)) code = number->value;
  if (error.empty()) {
    error = rest;
    while (error.starts_with(' ') || error.starts_with(':')) error.remove_prefix(1);
  }
  if (code < 0) code = cuda_error_number(error);
  if (code == 2 || error == "out of memory") {
    facts.add(event_of(LogEventKind::kCudaOutOfMemory, 2, -1, error, line.source_file), line);
  } else if (has(line.source_file, "nvls") || has(text, "ulticast")) {
    facts.add(event_of(LogEventKind::kNvlsFailed, code, -1, error, line.source_file), line);
  } else if (has(error, "driver version is insufficient") ||
             has(error, "system has unsupported display driver")) {
    facts.add(event_of(LogEventKind::kDriverMismatch, code, -1, error), line);
  } else {
    facts.add(event_of(LogEventKind::kCudaError, code, -1, error, line.source_file), line);
  }
  return true;
}

}  // namespace

bool take_cuda_warning(std::string_view text, const Line& line, Facts& facts) {
  if (has(text, "ulticast") &&
      (has(text, "Failed to bind") || has(text, "Failed to create") || has(text, "failed"))) {
    std::int64_t code = number_after(text, "CUDA error ");
    facts.add(event_of(LogEventKind::kNvlsFailed, code, -1, quoted(text)), line);
    return true;
  }
  if (cuda_failure(text, line, facts)) return true;
  if (has(text, "Driver/library version mismatch")) {
    facts.add(event_of(LogEventKind::kDriverMismatch, 0, -1, text), line);
    return true;
  }
  if (has(text, "is disabled between") && has(text, "connected GPUs")) {
    const std::string_view rest = text_behind(text, "connected GPUs ");
    const std::int64_t a = number_after(rest, ""), b = number_after(rest, "and ");
    if (a < 0 || b < 0) return false;
    facts.add(event_of(LogEventKind::kPeerAccessDisabled, 0, -1, has(text, "NVLINK") ? "NVLINK" : "",
                       std::to_string(a) + "," + std::to_string(b)),
              line);
    return true;
  }
  if (has(text, "GPU Direct RDMA Disabled") || has(text, "GPU Direct RDMA disabled")) {
    facts.add(event_of(LogEventKind::kGpuDirectDisabled, 0, -1, {}, quoted(text)), line);
    return true;
  }
  if (has(text, "Could not find real path of /sys")) {
    facts.add(event_of(LogEventKind::kSysfsMissing, 0, -1, {}, text_behind(text, "real path of ")), line);
    return true;
  }
  if ((text.starts_with("MNNVL") || has(text, "MNNVL:")) && !text.starts_with("MNNVL busId")) {
    facts.add(event_of(LogEventKind::kMnnvl, 0, -1, text), line);
    return true;
  }
  return false;
}

bool take_progress_warning(std::string_view text, const Line& line, Facts& facts) {
  if (has(text, "collective mismatch around rank") || has(text, "Mismatched collective detected")) {
    std::int32_t rank = rank_after(text, "around rank ");
    facts.add(event_of(LogEventKind::kMismatchHint, 0, rank), line);
    return true;
  }
  if (has(text, "communicator encountered a fatal error")) {
    facts.add(event_of(LogEventKind::kFatalCommunicatorError), line);
    return true;
  }
  if (has(text, "remote error detected from rank") || has(text, "ncclRemoteError")) {
    facts.add(event_of(LogEventKind::kPeerError, 0, rank_after(text, "from rank")), line);
    return true;
  }
  if (has(text, "RAS declaring peer")) {
    facts.add(
        event_of(LogEventKind::kRasPeerDead, 0, -1, {}, {}, address_at(text_behind(text, "declaring peer "))),
        line);
    return true;
  }
  if (has(text, "Failed to execute operation") || has(text, "failed while polling for opId") ||
      has(text, "Error encountered progressing operation") || text.starts_with("[Proxy Service") ||
      text.starts_with("[Service thread]") || text.starts_with("[Proxy Progress]")) {
    // A closing that the normal end has, too, was taken before.
    facts.add(
        event_of(LogEventKind::kProxyError, number_after(text, "retcode "), rank_after(text, "from rank "),
                 text.substr(0, std::min<std::size_t>(find_text(text, "opId="), 120))),
        line);
    return true;
  }
  return false;
}

}  // namespace unhang::formats::log
