// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_monitor.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/printable.h"
#include "collect/ras_conversation.h"
#include "net/conversations.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kLongestEvent = std::size_t{1} << 20;
constexpr std::size_t kNoCeiling = static_cast<std::size_t>(-1);  // a stream that may run for days

class MonitorConversation final : public RasConversation {
 public:
  MonitorConversation(RasAsk ask, std::string groups, std::function<void()> on_ok,
                      std::function<void(std::string_view)> on_event)
      : RasConversation(ask),
        x_groups(std::move(groups)),
        x_on_ok(std::move(on_ok)),
        x_on_event(std::move(on_event)) {}

  bool was_heard() const { return x_heard; }

 protected:
  std::string request() override { return "MONITOR " + x_groups + "\n"; }

  net::Deadline request_deadline() const override { return ask().deadline.or_sooner(ask().handshake); }

  net::Step take(std::string_view bytes) override {
    if (x_heard) {
      x_splitter.feed(bytes, x_on_event);
      return {};
    }
    x_first += bytes;
    const std::size_t end = x_first.find('\n');
    if (end == std::string::npos) {
      if (x_first.size() > kLongestEvent) return give_up(RasOutcome::kNotRas, "its answer has no end");
      return {};
    }
    const std::string line = x_first.substr(0, end);
    if (line != "OK" && line != "OK\r") {
      return give_up(RasOutcome::kRefused, fmt::format("it answered '{}': events need NCCL 2.29.2 or later",
                                                       base::printable(line)));
    }
    x_heard = true;
    x_on_ok();
    x_splitter.feed(std::string_view(x_first).substr(end + 1), x_on_event);
    return {.deadline = ask().deadline};
  }

  void ended(const net::End& end) override {
    const bool late = end.kind == net::EndKind::kDeadline;
    if (x_heard && late) return set_end(RasOutcome::kDeadline, "");
    set_end(late ? RasOutcome::kMute : RasOutcome::kLost, end.text);
  }

 private:
  std::string x_groups;
  std::function<void()> x_on_ok;
  std::function<void(std::string_view)> x_on_event;
  std::string x_first;
  bool x_heard = false;
  RasEventSplitter x_splitter;
};

// One address that the user named; its IP addresses are tried one after the other.
struct Source {
  net::HostPort asked;
  std::vector<net::SocketAddress> addresses = {};
  std::size_t at = 0;
  int mute = 0;
  bool listened = false;
  std::string trouble = {};
  std::vector<std::unique_ptr<MonitorConversation>> conversations = {};
};

class Monitor {
 public:
  Monitor(const RasMonitorOptions& options, const net::Deadline& deadline, const OnRasEvent& on_event,
          const OnRasNote& on_note)
      : x_options(options), x_deadline(deadline), x_on_event(on_event), x_on_note(on_note) {}

  RasMonitorEnd run(const std::vector<net::HostPort>& addresses, int wake_fd) {
    for (const net::HostPort& asked : addresses) x_sources.push_back(std::make_unique<Source>(Source{asked}));
    for (const auto& source : x_sources) begin(*source);
    x_conversations.run(x_deadline, wake_fd);
    RasMonitorEnd end;
    end.interrupted = x_interrupted;
    end.deadline = x_deadline.passed();
    for (const auto& source : x_sources) {
      end.listened += source->listened ? 1 : 0;
      if (!source->trouble.empty()) end.troubles.push_back(source->trouble);
    }
    return end;
  }

 private:
  void begin(Source& source) {
    source.at = 0;
    source.mute = 0;
    source.trouble.clear();
    auto found = net::resolve(source.asked, x_deadline.or_sooner(std::chrono::seconds(5)));
    if (!found) return lost(source, found.error().message);
    source.addresses = std::move(*found);
    connect(source);
  }

  void connect(Source& source) {
    const net::SocketAddress address = source.addresses[source.at];
    const std::string where = address.text();
    RasAsk ask;
    ask.may_json = x_options.json;
    ask.handshake = x_options.handshake;
    ask.deadline = x_deadline;
    // The one that just ended may still be on the stack; those before it are not.
    if (source.conversations.size() > 1) source.conversations.erase(source.conversations.begin());
    source.conversations.push_back(std::make_unique<MonitorConversation>(
        ask, x_options.groups,
        [this, &source, where] {
          source.listened = true;
          x_on_note(fmt::format("{}: listening", where));
        },
        [this, where](std::string_view event) { x_on_event(where, event); }));
    MonitorConversation& conversation = *source.conversations.back();
    conversation.when_ended([this, &source, &conversation, where] { ended(source, conversation, where); });
    x_conversations.start({address, &conversation, x_deadline.or_sooner(x_options.handshake), kNoCeiling});
  }

  void ended(Source& source, const MonitorConversation& conversation, const std::string& where) {
    const RasOutcome outcome = conversation.outcome();
    if (outcome == RasOutcome::kCancelled) {
      x_interrupted = true;
      return;
    }
    if (x_deadline.passed()) return;
    std::string trouble = conversation.trouble();
    if (trouble.find(where) == std::string::npos) trouble = fmt::format("{}: {}", where, trouble);
    if (conversation.was_heard()) return lost(source, trouble);
    if (outcome == RasOutcome::kMute && source.mute++ < x_options.retries) return connect(source);
    source.trouble += (source.trouble.empty() ? "" : "; ") + trouble;
    if (++source.at < source.addresses.size()) return connect(source);
    lost(source, source.trouble);
  }

  void lost(Source& source, const std::string& trouble) {
    source.trouble = trouble;
    if (!x_options.reconnect) return;
    // Said once for each time that it was listened to, not for each vain attempt.
    if (source.trouble != x_last_note) x_on_note(trouble + "; trying again");
    x_last_note = source.trouble;
    x_conversations.after(x_deadline.or_sooner(x_options.pause), [this, &source] { begin(source); });
  }

  const RasMonitorOptions& x_options;
  const net::Deadline& x_deadline;
  const OnRasEvent& x_on_event;
  const OnRasNote& x_on_note;
  net::Conversations x_conversations;
  std::vector<std::unique_ptr<Source>> x_sources;
  std::string x_last_note;
  bool x_interrupted = false;
};

}  // namespace

bool RasEventSplitter::add(char c) {
  if (x_held.empty()) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return false;
    x_is_object = c == '{';
    x_depth = 0;
    x_in_string = x_escaped = false;
  }
  if (!x_is_object) {
    if (c == '\n') return true;
    x_held += c;
    return false;
  }
  x_held += c;
  if (x_in_string) {
    x_in_string = x_escaped || c != '"';
    x_escaped = !x_escaped && c == '\\';
    return false;
  }
  x_in_string = c == '"';
  if (c == '{') ++x_depth;
  return c == '}' && --x_depth == 0;
}

void RasEventSplitter::feed(std::string_view bytes, const std::function<void(std::string_view)>& on_event) {
  for (const char c : bytes) {
    if (x_dropping) {
      x_dropping = c != '\n';
      continue;
    }
    if (add(c)) {
      while (!x_held.empty() && x_held.back() == '\r') x_held.pop_back();
      on_event(x_held);
      x_held.clear();
    } else if (x_held.size() > kLongestEvent) {
      x_held.clear();
      x_dropping = true;
    }
  }
}

RasMonitorEnd monitor_ras(const std::vector<net::HostPort>& addresses, const RasMonitorOptions& options,
                          const net::Deadline& deadline, int wake_fd, const OnRasEvent& on_event,
                          const OnRasNote& on_note) {
  return Monitor(options, deadline, on_event, on_note).run(addresses, wake_fd);
}

}  // namespace unhang::collect
