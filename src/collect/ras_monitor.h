// SPDX-License-Identifier: Apache-2.0
//
// Listens to the events that RAS tells as they happen (MONITOR, NCCL 2.29.2 and later): processes that come,
// fall silent or die. Asking for them is safe in every release; it makes the job do nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/deadline.h"

namespace unhang::collect {

struct RasMonitorOptions {
  bool json = true;            // events as JSON where the release has it
  std::string groups = "all";  // "lifecycle", "trace", "all"
  bool reconnect = false;      // go on when the process that was asked has gone
  std::chrono::nanoseconds handshake{std::chrono::seconds(1)};
  std::chrono::nanoseconds pause{std::chrono::seconds(1)};  // before it connects anew
  int retries = 5;                                          // after a process that accepts and says nothing
};

struct RasMonitorEnd {
  bool interrupted = false;
  bool deadline = false;              // it went on until then
  std::size_t listened = 0;           // addresses that were listened to, for however long
  std::vector<std::string> troubles;  // why there are no (more) events, one for each address at most
};

// One whole event, exact bytes without a line break behind it, and who told it ("127.0.0.1:28028"). Bytes
// that never make a whole event (more than 1 MiB) are dropped.
using OnRasEvent = std::function<void(const std::string& where, std::string_view event)>;
// What happens to the connections: "… is listened to", "… closed the connection; connecting anew".
using OnRasNote = std::function<void(const std::string& text)>;

// Until the deadline, until `wake_fd` becomes readable, or until nobody is left to listen to.
RasMonitorEnd monitor_ras(const std::vector<net::HostPort>& addresses, const RasMonitorOptions& options,
                          const net::Deadline& deadline, int wake_fd, const OnRasEvent& on_event,
                          const OnRasNote& on_note);

// Cuts a stream of events into whole ones: objects of JSON, or lines.
class RasEventSplitter {
 public:
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_event);

 private:
  bool add(char c);  // true: x_held is a whole event

  std::string x_held;
  bool x_is_object = false;
  std::size_t x_depth = 0;
  bool x_in_string = false, x_escaped = false;
  bool x_dropping = false;  // too long: up to the next line break
};

}  // namespace unhang::collect
