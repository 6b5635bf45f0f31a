// SPDX-License-Identifier: Apache-2.0
//
// What a source has kept so far and what it could not have, and from both how it ended. For sources that ask
// for several things, of which each may be missing by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/capture.h"
#include "os/child_reader.h"

namespace unhang::collect {

class SourceTally {
 public:
  explicit SourceTally(CaptureContext& context) : x_context(context) {}

  // Into the bundle. The time is now unless `facts` has one. What cannot be written is noted.
  bool keep(std::string_view bytes, model::BundleFile facts);

  // Why something is missing, for people; each once. The other two also say what kind of lack it is, which is
  // how the source ends when nothing was kept at all.
  void note(std::string line);
  void not_allowed(std::string line);
  void no_answer(std::string line);
  // "WHAT: Permission denied"
  void not_readable(const std::string& what, const os::ReadReply& reply);

  std::size_t kept() const { return x_kept; }
  // `nothing` is the reason where nothing was kept and nothing noted.
  SourceOutcome outcome(std::string_view nothing) const;

  // The reading of files and programs is in real time, whatever clock rules the capture. `spare` is left over
  // for what comes after it.
  std::chrono::steady_clock::time_point real_deadline(std::chrono::nanoseconds spare = {}) const;
  os::ReadDeadlines read_deadlines() const;

  CaptureContext& context() const { return x_context; }

 private:
  CaptureContext& x_context;
  std::vector<std::string> x_notes;
  std::size_t x_kept = 0;
  bool x_not_allowed = false, x_no_answer = false;
};

}  // namespace unhang::collect
