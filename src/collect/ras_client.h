// SPDX-License-Identifier: Apache-2.0
//
// Asks the RAS service of live jobs for its report and hands the raw bytes to the caller. What makes that
// more than one connection:
//  - a name has several addresses and the service listens on one of them;
//  - processes share the port, the kernel picks one for each connection: it may be a stopped one (then a
//    fresh connection is tried) and it may belong to another job (then more connections are made until every
//    process that listens was heard of);
//  - some releases must not be asked, or not in this form (ras_safety.h).
// Only requests that read are sent, one a connection. Everything ends at the deadline, with what had come.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collect/nccl_release.h"
#include "collect/ras_listeners.h"
#include "collect/ras_safety.h"
#include "net/address.h"
#include "net/deadline.h"

namespace unhang::collect {

struct RasClientOptions {
  std::chrono::nanoseconds timeout{std::chrono::seconds(15)};   // of one poll
  std::chrono::nanoseconds handshake{std::chrono::seconds(1)};  // until a connection counts as mute
  int retries = 5;                                // connections beyond the first, for one report
  std::size_t max_bytes = std::size_t{64} << 20;  // of one report
  std::optional<int> connections;                 // reports to get from each address; else as needed
  std::optional<NcclRelease> release;             // of the job, where the user knows it
  bool force = false;                             // ask releases that it may crash
  bool verbose = false;                           // names of all ranks where only VERBOSE gives them
  std::string proc_root = "/proc";                // empty: do not look
  net::SteadyNow now = net::steady_now;
};

// One report, or why there is none.
struct RasReply {
  std::string asked;     // "localhost:28028"
  std::string resolved;  // "[::1]:28028"; empty: not even the name was resolved
  std::string bytes;     // exact; empty: no report
  bool is_json = false;
  bool complete = false;
  std::string trouble;          // why there is none, or why it is not whole; empty: all is well
  bool refused = false;         // not asked, because it might crash the job
  bool deadline = false;        // no answer because the time was over
  int attempts = 0;             // connections that were made for it
  int mute = 0;                 // of them, those that were accepted and never answered
  std::int64_t started_ns = 0;  // wall clock, nanoseconds since 1970
  std::chrono::nanoseconds elapsed{0};
};

struct RasPoll {
  // In the order of the addresses asked, then of arrival. At least one for each address asked.
  std::vector<RasReply> replies;
  std::vector<std::string> notes;  // what a user should know besides, each once
  bool interrupted = false;

  bool any_report() const;
};

// Remembers between polls what need not be found out again. One thread.
class RasClient {
 public:
  RasClient(std::vector<net::HostPort> addresses, RasClientOptions options);
  ~RasClient();
  RasClient(const RasClient&) = delete;
  RasClient& operator=(const RasClient&) = delete;

  // One report of each job that can be reached. Returns early when `wake_fd` becomes readable.
  RasPoll poll(int wake_fd = -1);

  // What is known of one address that is asked.
  struct Target {
    net::HostPort asked;
    std::vector<net::SocketAddress> addresses;  // empty: not resolved yet
    std::string resolve_trouble;
    std::optional<NcclRelease> release;  // the one that permits least, where there are several
    std::string release_source;  // "as given", "/usr/lib/libnccl.so.2.28.9 of process 71", "its first answer"
    std::set<std::string> sockets;  // that were looked at
    std::vector<RasListener> listeners;
  };
  const std::vector<Target>& targets() const { return x_targets; }

  // Resolves the names and looks at who listens; poll() does it by itself.
  void look_around(const net::Deadline& deadline);
  // Why it may not be asked in any form; empty: it may.
  std::string refusal(const Target& target) const;

 private:
  void look_at_listeners(const net::Deadline& deadline);

  std::vector<Target> x_targets;
  RasClientOptions x_options;
  std::optional<net::Deadline> x_next_look;  // at who listens; nullopt: at once
};

}  // namespace unhang::collect
