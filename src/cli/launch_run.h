// SPDX-License-Identifier: Apache-2.0
//
// One run of a command under observation: started, its output passed on, looked at when it ends or its time
// is over, ended with everything that it started, and then read like any other evidence.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "model/case.h"
#include "model/launch.h"
#include "os/process_identity.h"
#include "os/signal_relay.h"

namespace unhang::cli {

struct LaunchPlan {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // all of it: "NAME=VALUE"
  std::optional<os::ProcessIdentity> identity;
  std::string folder;    // of this run: absolute, new, made by make_launch_folder
  std::string nccl_log;  // as NCCL_DEBUG_FILE has it
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
  std::chrono::nanoseconds look = std::chrono::seconds(4);
  bool ask_ras = true;
  int output = 1, errors = 2;  // where its output goes
};

struct WatchedLaunch {
  model::LaunchRun run;
  std::optional<model::Case> evidence;  // nullopt: there was none
  std::optional<model::Verdict> verdict;
};

// The signals that a launch passes on or ends at: what `relay` of launch() must catch.
os::SignalRelay launch_signals();

// Makes the folder, and `pipes` in it, for this user or, as root, for the one that the command will run as.
base::Result<> make_launch_folder(const std::string& path,
                                  const std::optional<os::ProcessIdentity>& identity);

base::Result<> give_folder(const std::string& path, const os::ProcessIdentity& identity);

// Returns by limit + look + 0.9 s, whatever the command does. Fails when the command cannot be started.
base::Result<WatchedLaunch> launch(const LaunchPlan& plan, os::SignalRelay& relay);

}  // namespace unhang::cli
