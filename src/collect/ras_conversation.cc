// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_conversation.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 10;
constexpr std::size_t kShownLine = 60;
constexpr std::string_view kGreeting = "SERVER PROTOCOL ";

bool begins(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string shown(std::string_view line) {
  const std::string cut = base::printable(line.substr(0, kShownLine));
  return line.size() > kShownLine ? cut + "…" : cut;
}

}  // namespace

bool is_whole_report(std::string_view bytes, bool is_json) {
  if (!is_json) return bytes.find("\nWarnings\n========") != std::string_view::npos;
  std::size_t at = bytes.find('{');  // some builds print a banner before it
  if (at == std::string_view::npos) return false;
  std::size_t depth = 0;
  bool in_string = false;
  for (; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return true;
    }
  }
  return false;
}

void RasConversation::set_end(RasOutcome outcome, std::string trouble) {
  x_outcome = outcome;
  x_trouble = std::move(trouble);
}

net::Step RasConversation::give_up(RasOutcome outcome, std::string trouble) {
  x_gave_up = true;
  set_end(outcome, std::move(trouble));
  return {.done = true};
}

net::Step RasConversation::on_connected() {
  // In one packet: the service answers them one by one, in order.
  return {.send = fmt::format("CLIENT PROTOCOL 2\nTIMEOUT {}\n{}", x_ask.leg_seconds,
                              x_ask.may_json ? "SET FORMAT json\n" : ""),
          .deadline = x_ask.deadline.or_sooner(x_ask.handshake)};
}

net::Step RasConversation::to_request() {
  x_stage = Stage::kRequested;
  return {.send = request(), .deadline = request_deadline()};
}

net::Step RasConversation::on_line(std::string_view line) {
  const bool is_error = begins(line, "ERROR");
  switch (x_stage) {
    case Stage::kHello:
      if (!begins(line, kGreeting)) {
        return give_up(RasOutcome::kNotRas, fmt::format("this is not NCCL RAS: it said '{}'", shown(line)));
      }
      x_stage = Stage::kTimeout;
      return {};
    case Stage::kTimeout:  // a service that has no such limit says ERROR: ours holds
      if (!is_error && line != "OK") {
        return give_up(RasOutcome::kNotRas, fmt::format("TIMEOUT was answered by '{}'", shown(line)));
      }
      if (!x_ask.may_json) return to_request();
      x_stage = Stage::kFormat;
      return {};
    case Stage::kFormat:
      if (!is_error && line != "OK") {
        return give_up(RasOutcome::kNotRas, fmt::format("SET FORMAT was answered by '{}'", shown(line)));
      }
      x_is_json = !is_error;
      if (!x_is_json && !x_ask.may_text) return give_up(RasOutcome::kNoJson, "it has no JSON answers");
      return to_request();
    case Stage::kRequested:
      break;
  }
  return {};
}

net::Step RasConversation::on_bytes(std::string_view bytes) {
  x_said_something = true;
  if (x_stage == Stage::kRequested) return take(bytes);
  x_unread += bytes;
  net::Step all;
  std::size_t begin = 0;
  while (x_stage != Stage::kRequested) {
    const std::size_t end = x_unread.find('\n', begin);
    if (end == std::string::npos) break;
    std::string_view line = std::string_view(x_unread).substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    net::Step step = on_line(line);
    begin = end + 1;
    if (step.done) return step;
    all.send += step.send;
    if (step.deadline) all.deadline = step.deadline;
  }
  x_unread.erase(0, begin);
  if (x_stage == Stage::kRequested && !x_unread.empty()) {
    net::Step step = take(x_unread);  // nothing is asked twice, so this came too early or is the report
    x_unread.clear();
    if (step.done) return step;
  }
  if (x_unread.size() > kMaxLine) {
    return give_up(RasOutcome::kNotRas, fmt::format("this is not NCCL RAS: it said '{}'", shown(x_unread)));
  }
  return all;
}

void RasConversation::on_end(const net::End& end) {
  settle(end);
  if (x_when_ended) x_when_ended();
}

void RasConversation::settle(const net::End& end) {
  if (x_gave_up) return;
  if (end.kind == net::EndKind::kCancelled) return set_end(RasOutcome::kCancelled, "interrupted");
  if (x_stage == Stage::kRequested) return ended(end);
  if (!end.connected) {
    const bool late = end.kind == net::EndKind::kDeadline && x_ask.deadline.passed();
    return set_end(late ? RasOutcome::kDeadline : RasOutcome::kNoConnection, end.text);
  }
  if (end.kind == net::EndKind::kDeadline) {
    if (x_said_something) return set_end(RasOutcome::kLost, end.text);
    return set_end(RasOutcome::kMute, "the connection was accepted and never answered");
  }
  set_end(RasOutcome::kLost, end.text);
}

net::Step RasReport::take(std::string_view bytes) {
  x_bytes += bytes;
  return {};
}

void RasReport::ended(const net::End& end) {
  if (begins(x_bytes, "ERROR")) {
    const std::size_t line = x_bytes.find('\n');
    return set_end(RasOutcome::kRefused, fmt::format("it answered '{}'", shown(x_bytes.substr(0, line))));
  }
  // JSON shows its end by itself; of a text, the end of the connection is the end of its last section.
  x_complete = is_whole_report(x_bytes, is_json()) && (is_json() || end.kind == net::EndKind::kClosed);
  if (x_complete) return set_end(RasOutcome::kAnswered, "");
  const bool late = end.kind == net::EndKind::kDeadline;
  if (x_bytes.empty()) {
    return set_end(late ? RasOutcome::kDeadline : RasOutcome::kLost,
                   late ? "no report before the deadline" : end.text);
  }
  const std::string why = late ? "the deadline passed" : end.text;
  set_end(RasOutcome::kAnswered, fmt::format("the report ends after {} bytes: {}", x_bytes.size(), why));
}

}  // namespace unhang::collect
