// SPDX-License-Identifier: Apache-2.0
//
// The client's side of the RAS protocol on one connection: greeting, time limit, form of the answer, then the
// one request that the connection is for. Only requests that read are ever sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "net/conversations.h"

namespace unhang::collect {

// How a connection ended, as far as a client has to act on it.
enum class RasOutcome {
  kAnswered,      // the report, whole or not
  kMute,          // accepted, and then not a word: a stopped process
  kNoConnection,  // refused, unreachable …
  kLost,          // it broke or was closed before the report began
  kNotRas,        // whoever listens there speaks another language
  kNoJson,        // it has only text, which was not to be asked for
  kRefused,       // it answered the request with an error
  kDeadline,      // no time left
  kCancelled,
};

struct RasAsk {
  bool may_json = true;
  bool may_text = true;
  std::chrono::nanoseconds handshake{std::chrono::seconds(1)};
  net::Deadline deadline = net::Deadline::never();  // of the whole conversation
  int leg_seconds = 5;  // TIMEOUT: how long the service may wait for other processes
};

// The beginning that all requests share. Lines longer than 16 KiB are no RAS.
class RasConversation : public net::Conversation {
 public:
  explicit RasConversation(RasAsk ask) : x_ask(ask) {}

  net::Step on_connected() final;
  net::Step on_bytes(std::string_view bytes) final;
  void on_end(const net::End& end) final;

  // Called once, when the outcome stands.
  void when_ended(std::function<void()> call) { x_when_ended = std::move(call); }

  RasOutcome outcome() const { return x_outcome; }
  const std::string& trouble() const { return x_trouble; }  // empty: all is well
  bool is_json() const { return x_is_json; }

 protected:
  // The service is ready: the request to send.
  virtual std::string request() = 0;
  // Until when something must have come then.
  virtual net::Deadline request_deadline() const { return x_ask.deadline; }
  // What came after the request.
  virtual net::Step take(std::string_view bytes) = 0;
  // The end, when the request had been sent.
  virtual void ended(const net::End& end) = 0;

  net::Step give_up(RasOutcome outcome, std::string trouble);
  void set_end(RasOutcome outcome, std::string trouble);
  const RasAsk& ask() const { return x_ask; }

 private:
  enum class Stage { kHello, kTimeout, kFormat, kRequested };

  net::Step on_line(std::string_view line);
  net::Step to_request();
  void settle(const net::End& end);

  RasAsk x_ask;
  Stage x_stage = Stage::kHello;
  std::string x_unread;  // of the lines before the request
  bool x_is_json = false;
  bool x_said_something = false;
  bool x_gave_up = false;
  RasOutcome x_outcome = RasOutcome::kLost;
  std::string x_trouble;
  std::function<void()> x_when_ended;
};

// STATUS or VERBOSE STATUS: the report up to the end of the connection.
class RasReport final : public RasConversation {
 public:
  RasReport(RasAsk ask, bool verbose) : RasConversation(ask), x_verbose(verbose) {}

  const std::string& bytes() const { return x_bytes; }  // exact, without the lines of the protocol
  std::string take_bytes() { return std::move(x_bytes); }
  bool complete() const { return x_complete; }

 protected:
  std::string request() override { return x_verbose && !is_json() ? "VERBOSE STATUS\n" : "STATUS\n"; }
  net::Step take(std::string_view bytes) override;
  void ended(const net::End& end) override;

 private:
  bool x_verbose;
  bool x_complete = false;
  std::string x_bytes;
};

// Does the report reach to its own end? Text has its "Warnings" heading then, JSON closes.
bool is_whole_report(std::string_view bytes, bool is_json);

}  // namespace unhang::collect
