// SPDX-License-Identifier: Apache-2.0
#include "collect/dump_finder.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "collect/bundle_writer.h"

namespace unhang::collect {
namespace {

constexpr std::uint64_t kMaxListing = 16 << 20;
constexpr int kMaxDepth = 8;  // of folders that a person gave
// The kernel tells the time of a start from that of the boot, which it gives in whole seconds.
constexpr std::int64_t kStartSlackNs = 2'000'000'000;

struct Candidate {
  const DumpPlace* place;
  std::string path;
  std::optional<std::int64_t> rank;
};

std::vector<std::string> names_in(std::string_view listing) {
  std::vector<std::string> names;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\0'), listing.size());
    names.emplace_back(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Finder {
 public:
  Finder(const DumpSearch& search, const os::ReadDeadlines& deadlines)
      : x_search(search),
        x_deadlines(deadlines),
        x_places(dump_places(search.workers, search.own_namespace)) {
    for (const std::string& prefix : search.own_prefixes) {
      const bool known = std::any_of(x_places.begin(), x_places.end(), [&](const DumpPlace& place) {
        return place.root.empty() && place.prefix == prefix;
      });
      if (!known && !prefix.empty()) x_places.push_back({.root = {}, .prefix = prefix, .workers = {}});
    }
    for (const std::string& path : search.paths)
      x_places.push_back({.root = {}, .prefix = path, .is_path = true, .workers = {}});
  }

  bool is_known(const FoundDump& dump) const {
    return std::any_of(x_search.known.begin(), x_search.known.end(), [&](const FoundDump& known) {
      return known.root == dump.root && known.path == dump.path && known.modified_ns == dump.modified_ns;
    });
  }

  FoundDumps run() {
    for (const DumpPlace& place : x_places) {
      if (place.is_path) {
        look_at_path(place, place.prefix, 0);
      } else {
        look_at_prefix(place);
      }
    }
    describe();
    std::erase_if(x_found.dumps, [&](const FoundDump& dump) { return is_known(dump); });
    std::sort(x_found.dumps.begin(), x_found.dumps.end(),
              [](const FoundDump& a, const FoundDump& b) { return a.target < b.target; });
    return std::move(x_found);
  }

 private:
  void note(const std::string& what, const os::ReadReply& reply) {
    x_found.not_allowed = x_found.not_allowed || reply.error == EACCES || reply.error == EPERM;
    x_found.notes.push_back(what + ": " + os::reason_text(reply));
  }

  os::ReadReply list(const DumpPlace& place, const std::string& folder) const {
    return os::read_in_child(
        os::ReadRequest{
            .kind = os::ReadKind::kFolder, .root = place.root, .path = folder, .max_bytes = kMaxListing},
        x_deadlines);
  }

  void look_at_prefix(const DumpPlace& place) {
    const std::string shown = place.prefix + "*";
    if (std::find(x_found.looked.begin(), x_found.looked.end(), shown) == x_found.looked.end())
      x_found.looked.push_back(shown);
    std::string folder(folder_of(place.prefix));
    const os::ReadReply listed = list(place, folder.empty() ? "." : folder);
    if (!listed.usable()) {
      if (listed.error != ENOENT && listed.error != ENOTDIR) note(place.root + folder, listed);
      return;
    }
    for (const std::string& name : names_in(listed.bytes)) {
      if (const auto rank = rank_of_name(name, name_of_path(place.prefix)))
        x_candidates.push_back({&place, folder + name, rank});
    }
  }

  // A folder, with the folders in it; a file; else a prefix.
  void look_at_path(const DumpPlace& place, const std::string& path, int depth) {
    const os::ReadReply listed = list(place, path);
    if (listed.usable()) {
      if (depth >= kMaxDepth) {
        x_found.notes.push_back(path + ": too many folders inside each other");
        return;
      }
      for (const std::string& name : names_in(listed.bytes)) {
        if (name.front() == '.' || x_candidates.size() > x_search.max_files) continue;
        look_at_path(place, path + (path.ends_with('/') ? "" : "/") + name, depth + 1);
      }
    } else if (listed.error == ENOTDIR) {
      x_candidates.push_back({&place, path, std::nullopt});
    } else if (listed.error == ENOENT && depth == 0) {
      const std::size_t before = x_candidates.size();
      look_at_prefix(place);
      if (x_candidates.size() == before) note(path, listed);
    } else {
      note(path, listed);
    }
  }

  // Size, time and owner of all candidates; what is no plain file, another's, or there twice is dropped.
  void describe() {
    if (x_candidates.size() > x_search.max_files) {
      x_found.notes.push_back("only the first " + std::to_string(x_search.max_files) + " of " +
                              std::to_string(x_candidates.size()) + " dumps were looked at");
      x_candidates.resize(x_search.max_files);
    }
    std::vector<os::ReadRequest> requests;
    for (std::size_t i = 0; i < x_candidates.size(); ++i) {
      requests.push_back({.root = x_candidates[i].place->root,
                          .path = x_candidates[i].path,
                          .follow_last = x_candidates[i].place->is_path,
                          .max_bytes = 0,
                          .group = i});
    }
    const auto replies = os::read_in_child(requests, x_deadlines);
    std::set<std::pair<std::uint64_t, std::uint64_t>> known;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const Candidate& candidate = x_candidates[i];
      if (!replies[i].usable()) {
        if (replies[i].error != ENOENT) note(candidate.path, replies[i]);
      } else if (!replies[i].is_regular) {
        if (candidate.place->is_path) x_found.notes.push_back(candidate.path + ": no plain file");
      } else if (!belongs_to_worker(candidate, replies[i].owner)) {
        x_found.notes.push_back(candidate.path +
                                ": passed over, it belongs to another user than the process");
      } else if (known.emplace(replies[i].device, replies[i].inode).second) {
        x_found.dumps.push_back(found(candidate, replies[i]));
      }
    }
  }

  bool belongs_to_worker(const Candidate& candidate, std::int64_t owner) const {
    const auto& workers = candidate.place->workers;
    return workers.empty() || std::any_of(workers.begin(), workers.end(),
                                          [&](std::size_t i) { return x_search.workers[i].user == owner; });
  }

  FoundDump found(const Candidate& candidate, const os::ReadReply& reply) {
    FoundDump dump;
    dump.root = candidate.place->root;
    dump.path = candidate.path;
    dump.follow_last = candidate.place->is_path;
    dump.size = reply.size;
    dump.modified_ns = reply.modified_ns;
    const os::Process* writer = writer_of(candidate);
    if (writer != nullptr) dump.pid = writer->pid;
    const auto since = writer != nullptr ? writer->started_ns : earliest_start(*candidate.place);
    dump.stale = since && reply.modified_ns < *since - kStartSlackNs;
    dump.target = target_of(candidate, dump.pid);
    return dump;
  }

  // The worker whose environment says that it has this rank, when there is exactly one.
  const os::Process* writer_of(const Candidate& candidate) const {
    const os::Process* only = nullptr;
    for (const std::size_t i : candidate.place->workers) {
      const std::string* rank = x_search.workers[i].variable("RANK");
      if (!candidate.rank || rank == nullptr || *rank != std::to_string(*candidate.rank)) continue;
      if (only != nullptr) return nullptr;
      only = &x_search.workers[i];
    }
    return only;
  }

  std::optional<std::int64_t> earliest_start(const DumpPlace& place) const {
    std::optional<std::int64_t> earliest;
    for (const std::size_t i : place.workers) {
      const auto started = x_search.workers[i].started_ns;
      if (!started) return std::nullopt;
      earliest = earliest ? std::min(*earliest, *started) : *started;
    }
    return earliest;
  }

  // <folder>/<host>[-<pid>][.<n>]/<file name>: files of one name from several places get folders of
  // their own.
  std::string target_of(const Candidate& candidate, std::int64_t pid) {
    std::string folder = x_search.folder + "/" + clean_name(x_search.host.empty() ? "host" : x_search.host);
    if (pid >= 0) folder += "-" + std::to_string(pid);
    const std::string name = clean_name(name_of_path(candidate.path));
    for (std::size_t n = 1;; ++n) {
      std::string target = folder + (n == 1 ? "" : "." + std::to_string(n)) + "/" + name;
      if (x_targets.insert(target).second) return target;
    }
  }

  const DumpSearch& x_search;
  os::ReadDeadlines x_deadlines;
  std::vector<DumpPlace> x_places;
  std::vector<Candidate> x_candidates;
  std::set<std::string> x_targets;
  FoundDumps x_found;
};

}  // namespace

FoundDumps find_dumps(const DumpSearch& search, const os::ReadDeadlines& deadlines) {
  return Finder(search, deadlines).run();
}

}  // namespace unhang::collect
