// SPDX-License-Identifier: Apache-2.0
//
// What processes meet through: PyTorch's TCPStore and its sockets, torchrun's rendezvous, Gloo.
#include <string>

#include "formats/log/families.h"
#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::string_view kTriggers[] = {
    "ncclUniqueId from [",
    "The client socket ",
    "connect/validate to host",
    "network addresses of (",
    "connect() timed out",
    "The server socket ",
    "Address already in use",
    "address already in use",
    "EADDRINUSE",
    "wait timeout after ",
    "Timeout waiting for key",
    "seconds waiting for",
    "Socket Timeout",
    "in store based barrier",
    "failed on SocketImpl(",
    "\"should dump\" flag",
    "Did the remote server shutdown",
    "DistNetworkError: ",
    "dump signal in tcpstore",
    "RuntimeError: Broken pipe",
    "RuntimeError: Connection reset by peer",
    "RendezvousConnectionError",
    "RendezvousTimeoutError",
    "RendezvousClosedError",
    "Connection closed by peer",
    "onnectFullMesh failed",
    "gloo/transport/tcp",
    "Unable to find address for: ",
    "unsupported gloo device",
    "op.preamble.length <= op.nbytes",
    "for recv operation to complete",
    "for send operation to complete",
    "timeout caused pair closure",
    "Using the loopback address as fallback",
};

// Errors of an IPv6 attempt on a machine without IPv6: PyTorch goes on with IPv4.
constexpr std::int64_t kNoAddressFamily = 97, kNoSuchAddress = 99, kInUse = 98;

// "(10.0.0.1, 29500)" -> "10.0.0.1:29500"
std::string pair_in(std::string_view text) {
  const auto inside = behind(text, "(");
  if (!inside) return {};
  const std::string_view both = up_to(*inside, ")");
  const std::size_t comma = both.find(',');
  if (comma == both.npos) return std::string(trimmed(both));
  return std::string(trimmed(both.substr(0, comma))) + ':' + std::string(trimmed(both.substr(comma + 1)));
}

// "[::ffff:10.0.0.1]:29500" at the beginning, or "10.0.0.1:29500".
std::string_view address_at(std::string_view text) {
  std::string_view address = up_to(trimmed(text), " \t,()");
  while (address.ends_with('.') || address.ends_with(':')) address.remove_suffix(1);
  return address;
}

bool take_key(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto waited_for = behind(text, "ncclUniqueId from [");
  if (!waited_for) return false;
  const std::size_t setting_up = find_text(text, "] is setting up NCCL communicator");
  const std::size_t open = setting_up == text.npos ? text.npos : text.rfind('[', setting_up);
  const auto waits = open == text.npos ? std::nullopt : number_at(text.substr(open + 1));
  const auto root = number_at(*waited_for);
  const std::string_view error = behind(*waited_for, "got error: ").value_or("");
  facts.add(event_of(LogEventKind::kStoreKeyMissing, root ? root->value : -1,
                     waits ? static_cast<std::int32_t>(waits->value) : -1, trimmed(error)),
            line);
  return true;
}

bool take_client(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto add = [&](std::int64_t code, std::string_view peer) {
    facts.add(event_of(LogEventKind::kStoreUnreachable, code, -1, {}, {}, peer), line);
    return true;
  };
  const std::int64_t code = number_after(text, "(errno: ", 0);
  if (const auto peer = behind(text, "The client socket has failed to connect to any network address of ")) {
    return add(code, pair_in(*peer));
  }
  if (const auto peer = behind(text, "The client socket has failed to connect to ")) {
    if (code == kNoAddressFamily || code == kNoSuchAddress) return true;
    return add(code, address_at(*peer));
  }
  // A line that says it twice names the host first.
  if (const auto peer = behind(text, "connect/validate to host ")) return add(code, address_at(*peer));
  if (const auto rest = behind(text, "The client socket has timed out after")) {
    const std::string_view peer = behind(*rest, "connect to ").value_or("");
    return add(code, has(peer, "(") ? pair_in(peer) : std::string(address_at(peer)));
  }
  if (const auto peer = behind(text, "IPv4 network addresses of ")) return add(code, pair_in(*peer));
  if (has(text, "IPv6 network addresses of ")) return true;
  if (has(text, "connect() timed out. Original timeout")) return add(0, {});
  return false;
}

bool take_server(const Line& line, Facts& facts) {
  if (line.nccl != NcclLevel::kNone) return false;  // "Call to bind failed: Address already in use"
  const std::string_view text = line.message;
  const bool in_use = has(text, "ddress already in use") || has(text, "EADDRINUSE");
  const auto listen = behind(text, "The server socket has failed to ");
  if (!in_use && !listen) return false;
  std::string peer;
  if (listen && listen->starts_with("bind to ")) {
    peer = address_at(listen->substr(8));
  } else if (const std::int64_t port = number_after(text, "port: "); port >= 0) {
    peer = std::to_string(port);
  } else if (const auto address = behind(text, "bind on address (")) {
    peer = pair_in("(" + std::string(*address));  // uvicorn, asyncio
  }
  const std::int64_t code = number_after(text, "(errno: ", in_use ? kInUse : 0);
  if (!in_use && code != kInUse) {
    if (code == kNoAddressFamily || code == kNoSuchAddress || code == 0) return true;
    facts.add(event_of(LogEventKind::kStoreUnreachable, code, -1, {}, {}, peer), line);
    return true;
  }
  facts.add(event_of(LogEventKind::kAddressInUse, kInUse, -1, {}, {}, peer), line);
  return true;
}

bool take_wait(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto add = [&](std::string_view detail, std::int32_t rank = -1) {
    facts.add(event_of(LogEventKind::kStoreTimeout, 0, rank, trimmed(detail)), line);
    return true;
  };
  if (const auto wait = behind(text, "wait timeout after ")) return add(behind(*wait, "keys: ").value_or(""));
  if (const auto key = behind(text, "Timeout waiting for key")) {
    return add(up_to(
        trimmed(key->substr(key->find_first_not_of("s: ") == key->npos ? key->size()
                                                                       : key->find_first_not_of("s: "))),
        " "));
  }
  if (const auto clients = behind(text, "seconds waiting for clients.")) return add(*clients);
  if (has(text, "Timed out after ") && has(text, "seconds waiting for")) return add({});
  if (const auto barrier = behind(text, "Timed out initializing process group in store based barrier")) {
    const std::int64_t came = number_after(*barrier, "worker_count="),
                       all = number_after(*barrier, "world_size=");
    std::string detail;
    if (came >= 0 && all >= 0) detail = std::to_string(came) + "/" + std::to_string(all) + " workers came";
    return add(detail, rank_after(*barrier, "rank:"));
  }
  // Every ten seconds while ranks come; how it ends is said later.
  if (has(text, "in store based barrier")) return true;
  if (has(text, "Socket Timeout")) return add({});
  return false;
}

bool take_closed(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const bool socket = has(text, "failed on SocketImpl(");
  if (!socket && !has(text, "\"should dump\" flag on TCPStore") &&
      !has(text, "Did the remote server shutdown") && !has(text, "RuntimeError: Broken pipe") &&
      !has(text, "RuntimeError: Connection reset by peer") && !has(text, "dump signal in tcpstore") &&
      !has(text, "DistNetworkError: Connection reset by peer") &&
      !has(text, "DistNetworkError: Broken pipe") && !has(text, "DistNetworkError: failed to recv") &&
      !has(text, "DistNetworkError: Failed to recv")) {
    return false;
  }
  std::string peer;
  if (const auto remote = behind(text, "remote=[")) {
    const std::size_t end = remote->find(']');
    if (end != remote->npos) peer = "[" + std::string(up_to(*remote, ",)"));
  }
  facts.add(event_of(LogEventKind::kStoreClosed, 0, -1, {}, {}, peer), line);
  return true;
}

bool take_rendezvous(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  // An agent that ends after the one with the store: how every job with several nodes ends.
  if (has(text, "failed to shutdown the rendezvous")) return true;
  for (const std::string_view type :
       {"RendezvousConnectionError", "RendezvousTimeoutError", "RendezvousClosedError"}) {
    if (!has(text, type)) continue;
    std::string detail(type);
    if (has(text, "keep-alive heartbeat")) detail += ", heartbeat";
    facts.add(event_of(LogEventKind::kRendezvousFailed, 0, -1, detail), line);
    return true;
  }
  return false;
}

bool take_gloo(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  // A mesh that fails quotes its cause ("connectFullMesh failed with […] Connection closed by peer").
  if (const auto mesh = behind(text, "onnectFullMesh failed")) {
    facts.add(event_of(LogEventKind::kGlooConnectFailed, 0, -1, trimmed(behind(*mesh, "with").value_or(""))),
              line);
    return true;
  }
  if (const auto peer = behind(text, "Connection closed by peer")) {
    facts.add(event_of(LogEventKind::kGlooClosed, 0, -1, {}, {}, address_at(*peer)), line);
    return true;
  }
  if (has(text, "operation to complete") && has(text, "Timed out waiting")) {
    facts.add(event_of(LogEventKind::kGlooTimeout, number_after(text, "Timed out waiting ")), line);
    return true;
  }
  if (has(text, "timeout caused pair closure")) {
    facts.add(event_of(LogEventKind::kGlooTimeout, -1), line);
    return true;
  }
  if (has(text, "Using the loopback address as fallback")) {
    facts.add(event_of(LogEventKind::kInterfaceChosen, 0, -1, "gloo", "lo", "127.0.0.1"), line);
    return true;
  }
  // "op.preamble.length <= op.nbytes. 256000 vs 128000": what the other rank sent, what this one waits for.
  if (const auto sizes = behind(text, "op.preamble.length <= op.nbytes. ")) {
    const std::int64_t remote = leading_number(*sizes).value_or(-1), local = number_after(*sizes, " vs ");
    if (remote >= 0 && local >= 0) {
      const std::string detail = "local " + std::to_string(local) + " remote " + std::to_string(remote);
      facts.add(event_of(LogEventKind::kNetSizeMismatch, 0, -1, detail), line);
      return true;
    }
  }
  if (has(text, "unsupported gloo device")) {
    facts.add(event_of(LogEventKind::kGlooConnectFailed, 0, -1, text), line);
    return true;
  }
  // The sentence of the check stands on a line of its own in what Python prints.
  if (const auto name = behind(text, "ifa != nullptr. Unable to find address for: ")) {
    facts.add(event_of(LogEventKind::kInterfaceMissing, 0, -1, {}, up_to(*name, " \"')]")), line);
    return true;
  }
  const auto gloo = behind(text, "gloo/transport/tcp");
  if (!gloo) return false;
  for (const std::string_view mark : {"Unable to find address for: ", "Unable to find interface for: "}) {
    if (const auto interface = behind(*gloo, mark)) {
      facts.add(event_of(LogEventKind::kInterfaceMissing, 0, -1, {}, up_to(*interface, " \"')]")), line);
      return true;
    }
  }
  for (const std::string_view mark : {"Read error ", "Write error ", "writev ", "read ", "write "}) {
    const auto peer = behind(*gloo, mark);
    if (!peer || !peer->starts_with('[')) continue;
    facts.add(event_of(LogEventKind::kGlooClosed, 0, -1, {}, {}, address_at(*peer)), line);
    return true;
  }
  for (const std::string_view mark : {"Connect timeout ", "connect [", "SO_ERROR: ", "resolve "}) {
    const std::size_t at = gloo->find(mark);
    if (at == gloo->npos) continue;
    facts.add(event_of(LogEventKind::kGlooConnectFailed, 0, -1, gloo->substr(at)), line);
    return true;
  }
  return false;
}

class StoreFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }
  bool take(const Line& line, Facts& facts) override {
    if (quotes_request(line)) return false;
    return take_key(line, facts) || take_client(line, facts) || take_server(line, facts) ||
           take_rendezvous(line, facts) || take_gloo(line, facts) || take_wait(line, facts) ||
           take_closed(line, facts);
  }
};

}  // namespace

std::unique_ptr<Family> store_family() {
  return std::make_unique<StoreFamily>();
}

}  // namespace unhang::formats::log
