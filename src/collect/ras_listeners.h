// SPDX-License-Identifier: Apache-2.0
//
// Who listens on a port of this machine, read from /proc: how many processes (NCCL lets all of a user share
// one port), which, and which release of NCCL they run. What may not be read (other users, other namespaces)
// is simply not known.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collect/nccl_release.h"
#include "net/address.h"
#include "net/deadline.h"

namespace unhang::collect {

struct RasListener {
  std::int64_t pid = -1;  // -1: not known
  std::string socket;     // its name, as in ListeningSocket
  std::optional<NcclRelease> release;
  std::string library;  // the file that says so
};

// A socket that listens in this network namespace.
struct ListeningSocket {
  std::string ip;  // 4 or 16 bytes
  std::uint16_t port = 0;
  std::string name;  // its inode
};
// `proc_root` is "/proc".
std::vector<ListeningSocket> listening_table(const std::string& proc_root);

// Names of those that a connection to one of the addresses would arrive at.
std::set<std::string> sockets_behind(const std::vector<net::SocketAddress>& addresses,
                                     const std::vector<ListeningSocket>& sockets);

// Both in one.
std::set<std::string> listening_sockets(const std::vector<net::SocketAddress>& addresses,
                                        const std::string& proc_root);

// One for each socket, ascending pid. Looks at the descriptors of all processes.
std::vector<RasListener> find_listeners(const std::set<std::string>& sockets, const std::string& proc_root);

// Adds the releases. May read some hundred MB of a library; a process that is stuck in the kernel may hold
// this up, so it ends at `deadline` with what is known then.
std::vector<RasListener> find_releases(std::vector<RasListener> listeners, const std::string& proc_root,
                                       const net::Deadline& deadline);

}  // namespace unhang::collect
