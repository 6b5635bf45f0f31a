// SPDX-License-Identifier: Apache-2.0
//
// Many TCP conversations at once, in one thread, over poll(2): what a client says, hears and when it has
// heard enough is a Conversation; connecting, sending, receiving, deadlines and ceilings are here.
//
//   Conversations all;
//   for (auto& exchange : exchanges) all.start({address, &exchange, Deadline::in(1s)});
//   all.run(Deadline::in(15s));
//
// A conversation may start others from inside its callbacks (a retry). Not copied, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/deadline.h"
#include "os/file_descriptor.h"

namespace unhang::net {

enum class EndKind : std::uint8_t {
  kDone,           // the conversation said so
  kClosed,         // the other side closed in order
  kConnectFailed,  // no connection
  kBroken,         // it broke (reset …)
  kDeadline,       // its own deadline, or that of all
  kTooMuch,        // more bytes than allowed
  kCancelled,      // the caller of run() was asked to stop
};

struct End {
  EndKind kind = EndKind::kDone;
  bool connected = false;  // was there ever a connection?
  std::string text;        // "connect to 127.0.0.1:28028: connection refused"
};

// What is to happen next.
struct Step {
  std::string send = {};
  bool done = false;                                // enough was heard: close
  std::optional<Deadline> deadline = std::nullopt;  // replaces the one it has
};

class Conversation {
 public:
  virtual ~Conversation() = default;
  virtual Step on_connected() = 0;
  // Bytes as they come: the borders of packets mean nothing.
  virtual Step on_bytes(std::string_view bytes) = 0;
  // Once, at the end, whatever it was. No other call follows.
  virtual void on_end(const End& end) = 0;
};

struct Call {
  SocketAddress address;
  Conversation* conversation = nullptr;  // must live until its on_end() was called
  Deadline deadline = Deadline::never();
  std::size_t max_bytes = std::size_t{64} << 20;
};

class Conversations {
 public:
  Conversations();
  ~Conversations();
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;

  // Connects when run() goes on; where the process has no more descriptors, when another one has ended.
  void start(Call call);
  // Calls `call` from run() when the time has come; not when run() ends before.
  void after(const Deadline& when, std::function<void()> call);
  // Until every conversation has ended and no call is outstanding. `wake_fd`, where there is one, ends all of
  // them with kCancelled as soon as it is readable. At `deadline` all end with kDeadline.
  void run(const Deadline& deadline, int wake_fd = -1);

  // How often it has waited: one that grows without anything happening is a loop that burns a processor.
  std::uint64_t rounds() const { return x_rounds; }

 private:
  struct Socket;

  struct Timer {
    Deadline when;
    std::function<void()> call;
  };

  void call_timers();
  void connect_waiting();
  void finish(Socket& socket, EndKind kind, const std::string& what);
  void obey(Socket& socket, Step step);
  void connected(Socket& socket);
  void receive(Socket& socket);
  void send(Socket& socket);
  void end_all(EndKind kind, const std::string& what);
  void end_late();
  int wait_milliseconds(const Deadline& deadline) const;

  std::deque<Call> x_waiting;
  std::vector<Timer> x_timers;
  std::vector<std::unique_ptr<Socket>> x_sockets;
  std::unique_ptr<char[]> x_buffer;
  std::uint64_t x_rounds = 0;
};

// Is it readable, so that run() ends at once? Never for -1.
bool is_woken(int wake_fd);

}  // namespace unhang::net
