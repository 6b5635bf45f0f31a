// SPDX-License-Identifier: Apache-2.0
//
// A program that we run for somebody: its exit status is kept, signals are passed on, and all that it starts
// (fork, setsid, double fork) stays below us and can be seen and ended. Where we are killed the hard way, the
// program gets SIGTERM; what it has started is then its own affair. At most one at a time in a program,
// and no other child of this program may run while reap() or end_all() are called: they wait for every child.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/descendants.h"
#include "os/process_identity.h"

namespace unhang::os {

struct ChildJobRequest {
  std::vector<std::string> words;           // [0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;     // all of it: "NAME=VALUE"
  std::optional<ProcessIdentity> identity;  // runs as this; else as we do
  // A session of its own, without a terminal that could stop it. Else it stays
  // in our process group: what a terminal sends (Ctrl-C, Ctrl-Z) reaches it without us, and a shell works.
  bool own_session = true;
  int output = -1, errors = -1;  // its 1 and 2; -1: ours
};

struct ChildEnd {
  int code = -1;
  int signal = 0;  // 0: it ended by itself
  bool core_dumped = false;

  int exit_status() const { return signal != 0 ? 128 + signal : code; }  // as shells have it
};

struct JobEnd {
  std::vector<Descendant> left;  // could not be ended in time: stuck in the kernel (D), or another user's
  bool killed = false;           // some ignored SIGTERM
};

class ChildJob {
 public:
  // kNoInput where there is no such program, kUsage where it may not be run (not executable, another user),
  // kIo where the system refuses.
  static base::Result<std::unique_ptr<ChildJob>> start(const ChildJobRequest& request);

  std::int64_t pid() const { return x_pid; }
  // Takes the status of all children that have ended. nullopt: the program itself still runs.
  std::optional<ChildEnd> reap();
  // To the program alone, or to all in its process group (only with own_session).
  void signal(int number) const;
  void signal_group(int number) const;
  // All that run below us now. They may be of earlier jobs that could not be ended.
  std::vector<Descendant> processes() const;
  // SIGTERM (and SIGCONT, so that stopped ones hear it) to all, and after `grace` SIGKILL until none is left
  // or `at_most` is over. Returns as soon as all have ended.
  JobEnd end_all(std::chrono::milliseconds grace, std::chrono::milliseconds at_most);

 private:
  explicit ChildJob(pid_t pid) : x_pid(pid) {}
  void wait_until_ended(std::chrono::steady_clock::time_point end, bool kill);

  pid_t x_pid;
  std::optional<ChildEnd> x_end;
};

}  // namespace unhang::os
