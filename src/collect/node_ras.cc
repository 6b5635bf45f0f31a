// SPDX-License-Identifier: Apache-2.0
//
// Whether RAS would answer and to whom it is open; whether engines do. RAS is greeted, never asked: a
// greeting crashes no release.
#include <algorithm>
#include <deque>
#include <map>

#include "base/printable.h"
#include "collect/node_parts.h"
#include "collect/ras_addresses.h"
#include "collect/ras_listeners.h"
#include "collect/ras_safety.h"
#include "collect/redaction.h"
#include "formats/engine_metrics/engine_metrics.h"
#include "net/address_scope.h"
#include "net/conversations.h"
#include "net/local_address.h"

namespace unhang::collect {
namespace {

using model::NodeRas;

constexpr std::chrono::nanoseconds kGreeting = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kEngine = std::chrono::seconds(2);
// The processes of a job share the port, and the kernel picks one for each connection: one may be stopped.
constexpr int kConnections = 3;
constexpr std::size_t kMostAddresses = 64;
constexpr std::uint16_t kDebugServerPort = 25999;  // torch.distributed.debug.start_debug_server, by default

class Greeting final : public net::Conversation {
 public:
  net::Step on_connected() override {
    x_connected = true;
    return {.send = "CLIENT PROTOCOL 2\n"};
  }
  net::Step on_bytes(std::string_view bytes) override {
    constexpr std::size_t kLongest = 256;
    x_heard += bytes.substr(0, kLongest);
    if (x_heard.find('\n') == std::string::npos && x_heard.size() < kLongest) return {};
    x_answered = x_heard.starts_with("SERVER PROTOCOL ");
    return {.done = true};
  }
  void on_end(const net::End& end) override { x_trouble = end.text; }

  bool answered() const { return x_answered; }
  // Why not, in the order in which it is worth telling.
  std::string trouble() const {
    if (!x_heard.empty())
      return "who listens there is not RAS: it said '" +
             base::printable(x_heard.substr(0, x_heard.find('\n'))) + "'";
    if (x_connected) return "it took the connection and said nothing for 1 s: a stopped process";
    return x_trouble;
  }
  bool connected() const { return x_connected; }

 private:
  bool x_connected = false, x_answered = false;
  std::string x_heard, x_trouble;
};

void greet(const NodeView& view, const net::HostPort& address, NodeRas& ras) {
  const net::Deadline deadline = net::Deadline::at(view.look.end).or_sooner(kGreeting);
  const auto resolved = net::resolve(address, deadline);
  if (!resolved) {
    ras.trouble = resolved.error().message;
    return;
  }
  std::deque<Greeting> greetings;
  net::Conversations all;
  for (const net::SocketAddress& one : *resolved) {
    for (int i = 0; i < kConnections; ++i) {
      greetings.emplace_back();
      all.start({.address = one, .conversation = &greetings.back(), .deadline = deadline});
    }
  }
  all.run(deadline, view.look.wake_fd);
  const auto has = [&](auto member) { return std::find_if(greetings.begin(), greetings.end(), member); };
  ras.answered = has([](const Greeting& one) { return one.answered(); }) != greetings.end();
  const auto worth_telling = has([](const Greeting& one) { return one.connected() && !one.answered(); });
  if (worth_telling != greetings.end()) {
    ras.trouble = worth_telling->trouble();
  } else if (!ras.answered && !greetings.empty()) {
    ras.trouble = greetings.front().trouble();
  }
}

model::AddressScope scope_of(const std::string& ip) {
  switch (net::scope_of_ip(ip)) {
    case net::AddressScope::kLoopback:
      return model::AddressScope::kLoopback;
    case net::AddressScope::kPrivate:
      return model::AddressScope::kPrivate;
    case net::AddressScope::kPublic:
      return model::AddressScope::kPublic;
    case net::AddressScope::kEverywhere:
      break;
  }
  return model::AddressScope::kEverywhere;
}

using Bound = std::vector<std::pair<std::string, model::AddressScope>>;
Bound bound_to(const std::string& proc, std::uint16_t port) {
  Bound bound;
  for (const ListeningSocket& socket : listening_table(proc)) {
    if (socket.port == port) bound.emplace_back(net::text_of_ip(socket.ip), scope_of(socket.ip));
  }
  std::sort(bound.begin(), bound.end());
  bound.erase(std::unique(bound.begin(), bound.end()), bound.end());
  return bound;
}

// Nothing that stands in a stranger's environment makes us call another machine.
bool is_here(const net::HostPort& address) {
  const bool is_numeric = address.host.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos;
  if (!is_numeric && address.host != "localhost") return false;
  const auto resolved = net::resolve(address, net::Deadline::in(kGreeting));
  return resolved && std::any_of(resolved->begin(), resolved->end(), net::is_local);
}

struct Wanted {
  net::HostPort address;
  std::string proc;  // whose net/tcp shows who listens: "/proc", "/proc/412"
  bool expected = false, elsewhere = false;
  std::string release;
};

class Planner {
 public:
  explicit Planner(const NodeView& view) : x_view(view) {
    x_own_network = link("self");
    for (const net::HostPort& address : view.look.ras) add({address, view.look.proc, true, false, {}});
  }

  std::vector<Wanted> run(const model::NodeFacts& facts) {
    if (!x_view.look.ras.empty()) return std::move(x_wanted);
    for (std::size_t i = 0; i < facts.workers.size(); ++i) add_of(facts.workers[i], i);
    if (facts.workers.empty()) {
      const auto usual = default_ras_addresses(x_view.variable("NCCL_RAS_ADDR").c_str());
      if (usual) add({usual->front(), x_view.look.proc, false, false, {}});
    }
    return std::move(x_wanted);
  }

 private:
  std::string link(const std::string& process) const {
    return os::read_in_child(os::ReadRequest{.kind = os::ReadKind::kLink,
                                             .path = x_view.look.proc + "/" + process + "/ns/net"},
                             x_view.deadlines)
        .bytes;
  }

  void add(Wanted wanted) {
    const bool known = std::any_of(x_wanted.begin(), x_wanted.end(), [&](const Wanted& other) {
      return other.address == wanted.address && other.elsewhere == wanted.elsewhere &&
             (!other.elsewhere || other.proc == wanted.proc);
    });
    if (!known && x_wanted.size() < kMostAddresses) x_wanted.push_back(std::move(wanted));
  }

  void add_of(const model::NodeWorker& worker, std::size_t i) {
    if (!worker.process.environment_known) return;
    const os::Process& process = x_view.workers.processes[i];
    const std::string* off = x_view.variable_of(i, "NCCL_RAS_ENABLE");
    if (off != nullptr && *off == "0") return;  // the rules for variables say so
    const std::string* stated = x_view.variable_of(i, "NCCL_RAS_ADDR");
    const auto addresses = default_ras_addresses(stated == nullptr ? nullptr : stated->c_str());
    if (!addresses) return;
    const std::string folder = std::to_string(process.pid), network = link(folder);
    const bool other_network = !network.empty() && !x_own_network.empty() && network != x_own_network;
    const auto release = parse_nccl_release(worker.nccl_release);
    add({addresses->front(), other_network ? x_view.look.proc + "/" + folder : x_view.look.proc,
         release && has_ras(*release), other_network || !is_here(addresses->front()), worker.nccl_release});
  }

  const NodeView& x_view;
  std::string x_own_network;
  std::vector<Wanted> x_wanted;
};

}  // namespace

void look_at_ras(const NodeView& view, model::NodeFacts& facts) {
  facts.debug_server = bound_to(view.look.proc, kDebugServerPort);
  for (const Wanted& wanted : Planner(view).run(facts)) {
    NodeRas ras;
    ras.address = wanted.address.text();
    ras.expected = wanted.expected;
    ras.release = view.look.nccl_release ? view.look.nccl_release->text() : wanted.release;
    if (const auto release = parse_nccl_release(ras.release)) {
      ras.too_old = !has_ras(*release);
      const RasSafety safety = ras_safety(release);
      if (safety.permission != RasPermission::kAll) ras.hazard = safety.reason;
    }
    ras.bound = bound_to(wanted.proc, wanted.address.port);
    if (wanted.elsewhere) {
      ras.expected = false;
      ras.trouble =
          "it cannot be reached from here: the worker has a network of its own, or states an address of "
          "another "
          "machine";
    } else {
      greet(view, wanted.address, ras);
    }
    // Where nobody said that there should be one, a closed port is no finding.
    if (ras.expected || ras.answered || !facts.workers.empty() || !ras.bound.empty())
      facts.ras.push_back(std::move(ras));
  }
}

void look_at_engines(const NodeView& view, model::NodeFacts& facts) {
  if (view.look.engines.empty()) return;
  EngineClient client(view.look.engines);
  const auto left =
      std::chrono::ceil<std::chrono::nanoseconds>(view.look.end - std::chrono::steady_clock::now());
  const auto replies = client.poll(
      std::vector<bool>(view.look.engines.size(), true),
      std::clamp<std::chrono::nanoseconds>(left, std::chrono::nanoseconds(0), kEngine), view.look.wake_fd);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    model::NodeEngine engine;
    engine.address = without_secrets(view.look.engines[i].shown);
    engine.health = replies[i].health;
    engine.health_trouble = replies[i].health_trouble;
    engine.has_page = !replies[i].page.empty();
    engine.trouble = replies[i].trouble;
    if (engine.has_page) {
      formats::Evidence evidence;
      formats::engine_metrics::parse(replies[i].page, evidence);
      for (const model::EngineSample& sample : evidence.engine_samples) {
        engine.counters += sample.series.size();
        if (sample.engine != model::EngineKind::kUnknown) engine.engine = model::name_of(sample.engine);
      }
    }
    facts.engines.push_back(std::move(engine));
  }
}

}  // namespace unhang::collect
