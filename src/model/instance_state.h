// SPDX-License-Identifier: Apache-2.0
//
// What is known of one running model instance at a moment: its state, which signals said so, and which could
// not. Made by detect/ from RAS counts and the engine's counters, shown by report/. Times are nanoseconds
// since 1970.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/verdict.h"

namespace unhang::model {

// A monotone counter that shows progress, and whether it can show it here.
struct SignalState {
  std::string name;  // "engine", "ras"; with several of one kind: "engine http://a:8000"
  bool usable = false;
  std::string why_not;  // where it is not usable: "did not answer: connection refused"
  std::optional<std::int64_t> last_moved_ns;
  std::string says;  // "12 running, 3 waiting, steps move"
};

struct InstanceState {
  std::string name;
  State state = State::kUnknown;
  std::int64_t since_ns = 0;  // for stopped: when something moved last; else when the state began
  std::string why;            // one sentence
  std::string moved_last;     // name of the signal that moved last; empty: none was seen to move
  std::optional<std::int64_t> last_moved_ns;
  std::string lags;  // who lags: "rank 3 of b79ec9689dde9dc4 (8)", "engine=\"1\""; empty: nobody is named
  std::vector<SignalState> signals;
  std::vector<std::string> findings;  // whole sentences beside the state: "/health answers 200 …"
};

// The exit code of a command that watched these: that of the worst, stopped and dead before slow before
// unknown before the rest (DESIGN §5: 2, 1, 3, 0).
int exit_code(const std::vector<InstanceState>& instances);

}  // namespace unhang::model
