// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "formats/log/errno_text.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_texts.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

}  // namespace

bool take_start_warning(std::string_view text, const Line& line, Facts& facts) {
  if (has(text, "Duplicate GPU detected")) {
    const std::int32_t rank = rank_after(text, "rank ");
    facts.add(event_of(LogEventKind::kDuplicateGpu, rank_after(text_behind(text, "and "), "rank "), rank, {},
                       plain_word(text_behind(text, "CUDA device "))),
              line);
    return true;
  }
  if (has(text, "Multiple Ranks are using the same GPU") ||
      has(text, "Multiple ranks are using the same GPU")) {
    facts.add(event_of(LogEventKind::kDuplicateGpu, -1), line);
    return true;
  }
  if (has(text, "has already checked in")) {
    facts.add(event_of(LogEventKind::kDuplicateRank, number_after(text, " of "), rank_after(text, "rank ")),
              line);
    return true;
  }
  if (has(text, "mismatch in info from procs") || has(text, "mismatch in rank count from procs")) {
    const std::string_view rest = text_behind(text, " from procs");
    std::int64_t a = number_after(rest, "nranks "), b = -1;
    if (a < 0) a = number_after(rest, ": ");
    if (b = number_after(rest, "vs nranks "); b < 0) b = number_after(rest, "vs ");
    facts.add(
        event_of(LogEventKind::kRankCountMismatch, 0, -1, std::to_string(a) + " vs " + std::to_string(b)),
        line);
    return true;
  }
  if (has(text, "Mismatched NCCL version detected")) {
    const std::string_view second = text_behind(text, "version detected");
    const std::size_t other = second.rfind("rank ");
    const std::int32_t a = rank_after(second, "rank ");
    const std::int32_t b = other == std::string_view::npos ? -1 : rank_after(second.substr(other), "rank ");
    const auto version_a = plain_word(text_behind(second, "version "));
    const auto version_b = other == std::string_view::npos
                               ? std::string_view()
                               : plain_word(text_behind(second.substr(other), "version "));
    facts.add(event_of(LogEventKind::kNcclVersionMismatch, b, a,
                       "rank " + std::to_string(a) + " version " + std::string(version_a) + " rank " +
                           std::to_string(b) + " version " + std::string(version_b)),
              line);
    return true;
  }
  if (has(text, "mixed local Net device counts")) {
    facts.add(event_of(LogEventKind::kNetDeviceMismatch, 0, -1,
                       "min " + std::to_string(number_after(text, "min ")) + " max " +
                           std::to_string(number_after(text, "max "))),
              line);
    return true;
  }
  if (has(text, "threads racing to launch NCCL")) {
    facts.add(event_of(LogEventKind::kRacingThreads), line);
    return true;
  }
  if (has(text, "NCCL version mismatch with remote peer")) {
    facts.add(event_of(LogEventKind::kNcclVersionMismatch, -1, -1, "RAS"), line);
    return true;
  }
  return false;
}

bool take_memory_warning(std::string_view text, const Line& line, Facts& facts) {
  const bool extend = has(text, "failed to extend ");
  if (extend || has(text, "shared memory segment") || has(text, "posix_fallocate failed") ||
      (has(text, "Call to shm") && has(text, "failed")) ||
      (has(text, "/dev/shm/nccl") && errno_in(text) != 0)) {
    std::string_view path;
    std::int64_t bytes = -1;
    if (extend) {
      path = plain_word(text_behind(text, "failed to extend "));
      bytes = number_after(text_behind(text, path), " to ");
    } else if (const auto rest = text_behind(text, "shared memory segment "); !rest.empty()) {
      path = plain_word(rest);
      bytes = number_after(rest, "(size ");
    }
    facts.add(event_of(LogEventKind::kSharedMemoryFailed, errno_in(text), -1,
                       bytes >= 0 ? std::to_string(bytes) : std::string(), path),
              line);
    return true;
  }
  if (const auto path = text_behind(text, "/dev/");
      !path.empty() && has(text, "open") && errno_in(text) != 0) {
    const std::size_t at = find_text(text, "/dev/");
    facts.add(
        event_of(LogEventKind::kDeviceNotAccessible, errno_in(text), -1, {}, plain_word(text.substr(at))),
        line);
    return true;
  }
  return false;
}

}  // namespace unhang::formats::log
