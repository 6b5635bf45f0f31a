// SPDX-License-Identifier: Apache-2.0
//
// The kernel's tables of TCP sockets (/proc/PID/net/tcp and tcp6), read as values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::collect {

struct TcpSocket {
  std::string local, remote;                        // "10.0.0.7:41001", "[fe80::1]:80"
  std::string state;                                // "ESTABLISHED", "LISTEN" …
  std::uint64_t send_queue = 0, receive_queue = 0;  // bytes; of one that listens: connections
  std::uint64_t retransmits = 0;                    // of what is unanswered now
  std::uint64_t inode = 0;                          // 0: belongs to nobody any more (TIME_WAIT)
};

// In the order of the table. Lines that are none are passed over.
std::vector<TcpSocket> parse_tcp_table(std::string_view table);

// "10.0.0.7:41001" of "0700000A:A029": words of 32 bits in the byte order of the machine. Empty: it is none.
std::string address_of_hex(std::string_view hex);

}  // namespace unhang::collect
