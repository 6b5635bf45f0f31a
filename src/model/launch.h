// SPDX-License-Identifier: Apache-2.0
//
// A launch that was watched (`unhang probe`): what was seen of it from outside, where it stood at the end,
// and what changed when it was tried again with one thing different. Values only; detect/ judges, report/
// shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/verdict.h"

namespace unhang::model {

// In the order in which a launch passes them.
enum class LaunchPlace : std::uint8_t {
  kUnknown,
  kBeforeNccl,       // imports, arguments, the store, or a program without NCCL
  kNcclInit,         // a communicator is being made
  kAfterInit,        // communicators stand, none was used: weights, compilation, the engine
  kFirstCollective,  // the first operations were called and none is known to be done
  kRunning,          // operations were done, steps or tokens were counted, or it serves
};
enum class LaunchMovement : std::uint8_t {
  kUnknown,
  kEnded,      // by itself, before the limit
  kAdvancing,  // steps or tokens go on
  kPrinting,   // it goes on to print; whether it advances cannot be told from that
  kStanding,   // a communicator or a first collective that stands still
  kSilent,     // it prints nothing any more, and nothing else could be asked
};
std::string_view name_of(LaunchPlace value);     // "nccl_init"
std::string_view name_of(LaunchMovement value);  // "standing"

// What was seen from outside. Seconds count from the start of the program.
struct LaunchFacts {
  double limit_s = 0, ran_s = 0;
  bool ended = false;  // by itself; exit_code or signal say how
  int exit_code = -1, signal = 0;
  int interrupted_by = 0;  // the signal that ended the probe early; 0: none
  std::uint64_t output_bytes = 0;
  std::optional<double> silent_s;  // how long it had printed nothing at the look; nullopt: it never printed
  std::string last_line;           // that it printed, without secrets
  std::size_t processes = 0;       // at the look
  // By the files in which NCCL writes; nullopt: not seen.
  std::optional<double> nccl_began_s, nccl_ready_s, first_call_s, nccl_quiet_s;
  std::optional<double> throughput;
  std::string throughput_unit;
  bool killed = false;            // some process ignored SIGTERM
  std::vector<std::string> left;  // "4242 python3 (D)": could not be ended
  std::vector<std::string> notes;
};

struct LaunchStage {
  LaunchPlace place = LaunchPlace::kUnknown;
  LaunchMovement movement = LaunchMovement::kUnknown;
  Confidence confidence = Confidence::kLow;
  std::string doing;  // "loading weights", "compiling", "connecting channels"; empty: not known
  std::string headline;
  std::vector<EvidenceItem> evidence;
  std::vector<std::int32_t> missing;  // ranks of a communicator that never checked in to it
  std::vector<std::string> not_seen;
};

struct LaunchRun {
  std::string change;  // "NCCL_P2P_DISABLE=1", "without --enforce-eager"; empty: as it was given
  std::string folder;
  bool readable = true;  // there is something in the folder that `unhang diagnose` can read
  LaunchFacts facts;
  LaunchStage stage;
  std::string outcome;  // of a trial: what it says, in a sentence
};

struct LaunchReport {
  std::vector<std::string> command;                      // without secrets
  std::vector<std::pair<std::string, std::string>> set;  // variables that the probe set
  LaunchRun base;
  std::vector<LaunchRun> trials;
  std::vector<std::string> ruled_out;  // by trials
  std::optional<Verdict> verdict;      // of the evidence of the first run
  std::vector<std::string> notes;
};

// 0 it advances or prints, 2 it stands, 3 unknown. Of a launch that did not end by itself.
int exit_code(const LaunchReport& report);

}  // namespace unhang::model
