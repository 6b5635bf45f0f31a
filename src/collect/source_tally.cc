// SPDX-License-Identifier: Apache-2.0
#include "collect/source_tally.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace unhang::collect {

constexpr std::size_t kMaxNotes = 12;
constexpr std::size_t kMaxNote = 400;

bool SourceTally::keep(std::string_view bytes, model::BundleFile facts) {
  if (facts.captured_ns == 0) facts.captured_ns = x_context.wall_ns();
  if (const auto kept = x_context.keep(bytes, std::move(facts)); !kept) {
    note(kept.error().message);
    return false;
  }
  ++x_kept;
  return true;
}

void SourceTally::note(std::string line) {
  if (line.size() > kMaxNote) line.resize(kMaxNote);
  if (std::find(x_notes.begin(), x_notes.end(), line) == x_notes.end()) x_notes.push_back(std::move(line));
}

void SourceTally::not_allowed(std::string line) {
  x_not_allowed = true;
  note(std::move(line));
}

void SourceTally::no_answer(std::string line) {
  x_no_answer = true;
  note(std::move(line));
}

void SourceTally::not_readable(const std::string& what, const os::ReadReply& reply) {
  std::string line = what + ": " + os::reason_text(reply);
  if (reply.error == EACCES || reply.error == EPERM) {
    not_allowed(std::move(line));
  } else if (reply.end == os::ReadEnd::kStuck || reply.end == os::ReadEnd::kNotTried) {
    no_answer(std::move(line));
  } else {
    note(std::move(line));
  }
}

SourceOutcome SourceTally::outcome(std::string_view nothing) const {
  using Status = model::SourceStatus;
  SourceOutcome out;
  for (std::size_t i = 0; i < x_notes.size() && i < kMaxNotes; ++i)
    out.reason += (i == 0 ? "" : "; ") + x_notes[i];
  if (x_notes.size() > kMaxNotes)
    out.reason += "; and " + std::to_string(x_notes.size() - kMaxNotes) + " more";
  if (x_kept > 0) {
    out.status = x_notes.empty() ? Status::kAnswered : Status::kPartial;
    return out;
  }
  if (out.reason.empty()) out.reason = nothing;
  out.status = x_not_allowed ? Status::kRefused : x_no_answer ? Status::kSilent : Status::kMissing;
  return out;
}

std::chrono::steady_clock::time_point SourceTally::real_deadline(std::chrono::nanoseconds spare) const {
  const auto left = x_context.deadline() - x_context.now() - spare;
  return std::chrono::steady_clock::now() + std::max<std::chrono::nanoseconds>(left, {});
}

os::ReadDeadlines SourceTally::read_deadlines() const {
  return {.still = std::chrono::seconds(2), .end = real_deadline()};
}

}  // namespace unhang::collect
