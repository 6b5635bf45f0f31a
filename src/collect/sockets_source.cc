// SPDX-License-Identifier: Apache-2.0
#include "collect/sockets_source.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/time_text.h"
#include "collect/fact_tree.h"
#include "collect/socket_table.h"
#include "collect/source_tally.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxTable = 64 << 20;
constexpr std::string_view kSocket = "socket:[";

class SocketReader {
 public:
  SocketReader(const SocketSearch& search, CaptureNames& names, CaptureContext& context)
      : x_search(search), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    if (x_search.processes.empty()) return x_tally.outcome("no worker was found");
    const std::int64_t taken = x_tally.context().wall_ns();
    find_holders();
    Json out{{"schema", "unhang.sockets/1"}, {"host", x_search.host}, {"taken", base::utc_text(taken)}};
    out["sockets"] = Json::array();
    for (const auto& [space, pid] : namespaces()) add_sockets(space, pid, out["sockets"]);
    if (!x_saw_a_table) return x_tally.outcome("the processes have ended");
    model::BundleFile facts;
    facts.captured_ns = taken;
    facts.path = x_names.next("sockets", taken, x_search.host.empty() ? "host" : x_search.host, ".json");
    x_tally.keep(out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", std::move(facts));
    return x_tally.outcome({});
  }

 private:
  std::string path_of(std::int64_t pid, const char* what) const {
    return x_search.proc + "/" + std::to_string(pid) + "/" + what;
  }

  // Which processes hold each socket.
  void find_holders() {
    std::vector<os::ReadRequest> folders;
    for (std::size_t i = 0; i < x_search.processes.size(); ++i)
      folders.push_back(
          {.kind = os::ReadKind::kFolder, .path = path_of(x_search.processes[i].pid, "fd"), .group = i});
    const auto listed = os::read_in_child(folders, x_tally.read_deadlines());
    std::vector<os::ReadRequest> links;
    std::vector<std::int64_t> owners;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (!listed[i].usable()) {
        if (listed[i].error != ENOENT && listed[i].error != ESRCH)
          x_tally.not_readable(folders[i].path, listed[i]);
        continue;
      }
      for (const std::string& name : names_of_listing(listed[i].bytes)) {
        if (links.size() >= x_search.max_descriptors) {
          x_tally.note("only the first " + std::to_string(links.size()) + " open files were looked at");
          break;
        }
        links.push_back({.kind = os::ReadKind::kLink, .path = folders[i].path + "/" + name, .group = i});
        owners.push_back(x_search.processes[i].pid);
      }
    }
    const auto targets = os::read_in_child(links, x_tally.read_deadlines());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::string_view target = targets[i].bytes;
      if (!target.starts_with(kSocket)) continue;
      target.remove_prefix(kSocket.size());
      std::uint64_t inode = 0;
      std::from_chars(target.data(), target.data() + target.size(), inode);
      if (inode != 0) x_holders[inode].insert(owners[i]);
    }
  }

  // Each network namespace once, with a process in it.
  std::vector<std::pair<std::string, std::int64_t>> namespaces() const {
    std::vector<os::ReadRequest> links;
    for (const os::Process& process : x_search.processes)
      links.push_back({.kind = os::ReadKind::kLink, .path = path_of(process.pid, "ns/net")});
    const auto targets = os::read_in_child(links, x_tally.read_deadlines());
    std::map<std::string, std::int64_t> first;
    for (std::size_t i = 0; i < targets.size(); ++i)
      first.emplace(targets[i].bytes, x_search.processes[i].pid);
    return {first.begin(), first.end()};
  }

  void add_sockets(const std::string& space, std::int64_t pid, Json& out) {
    for (const char* table : {"net/tcp", "net/tcp6"}) {
      const auto reply = os::read_in_child(
          os::ReadRequest{.path = path_of(pid, table), .max_bytes = kMaxTable}, x_tally.read_deadlines());
      if (!reply.usable()) {
        if (reply.error != ENOENT && reply.error != ESRCH) x_tally.not_readable(path_of(pid, table), reply);
        continue;
      }
      x_saw_a_table = true;
      if (reply.end == os::ReadEnd::kCut)
        x_tally.note(path_of(pid, table) + ": too large, its end was left out");
      for (const TcpSocket& socket : parse_tcp_table(reply.bytes)) {
        const auto holders = x_holders.find(socket.inode);
        if (holders == x_holders.end()) continue;
        out.push_back({{"pids", holders->second},
                       {"namespace", space},
                       {"local", socket.local},
                       {"remote", socket.remote},
                       {"state", socket.state},
                       {"send_queue", socket.send_queue},
                       {"receive_queue", socket.receive_queue},
                       {"retransmits", socket.retransmits}});
      }
    }
  }

  const SocketSearch& x_search;
  CaptureNames& x_names;
  SourceTally x_tally;
  std::map<std::uint64_t, std::set<std::int64_t>> x_holders;
  bool x_saw_a_table = false;
};

}  // namespace

CaptureSource sockets_source(std::string id, SocketSearch search, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "sockets";
  source.asked_kind = "path";
  source.asked = search.proc;
  source.run = [search = std::move(search), names = std::move(names)](CaptureContext& context) {
    return SocketReader(search, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
