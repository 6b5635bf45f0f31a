// SPDX-License-Identifier: Apache-2.0
//
// Where the workers of a node write dumps, and the FIFOs that make them do it.
#include <algorithm>
#include <charconv>

#include "collect/dump_finder.h"
#include "collect/node_parts.h"

namespace unhang::collect {
namespace {

// Before 2.8 the default was below /tmp, then below the home; before 2.10 XDG_CACHE_HOME was not asked.
bool is_before(std::string_view release, int minor) {
  int major = 0, its_minor = 0;
  const auto first = std::from_chars(release.data(), release.data() + release.size(), major);
  if (first.ec != std::errc() || first.ptr == release.data() + release.size()) return false;
  const auto second = std::from_chars(first.ptr + 1, release.data() + release.size(), its_minor);
  return second.ec == std::errc() && (major < 2 || (major == 2 && its_minor < minor));
}

// A path that is not absolute is meant from where the process works.
std::string reach_of_path(const NodeView& view, std::size_t i, const std::string& path) {
  if (path.front() == '/') return view.reach_of(i);
  const std::string& root = view.workers.processes[i].root;
  return root.substr(0, root.rfind('/')) + "/cwd";
}

struct Prefix {
  std::string text;
  bool is_set = false;
};

Prefix prefix_of(const NodeView& view, std::size_t i, const std::string& torch_release) {
  const os::Process& worker = view.workers.processes[i];
  const auto& names = dump_variables();
  const bool old = is_before(torch_release, 8);
  const auto value = [&](const std::string& name) {
    const std::string* found = worker.variable(name);
    return found == nullptr ? std::string() : *found;
  };
  for (std::size_t name = old ? 1 : 0; name < 2; ++name) {
    if (std::string set = value(names[name]); !set.empty()) return {std::move(set), true};
  }
  const std::string home = old ? "" : value("HOME");
  const std::string cache = is_before(torch_release, 10) ? "" : value("XDG_CACHE_HOME");
  return {dump_prefixes(nullptr, nullptr, home, cache).front(), false};
}

void add_old_dumps(const NodeView& view, model::NodeFacts& facts) {
  DumpSearch search;
  search.workers = view.workers.processes;
  search.own_namespace = view.workers.own_namespace;
  const FoundDumps found = find_dumps(search, view.deadlines);
  for (const FoundDump& dump : found.dumps) {
    if (!dump.stale) continue;
    for (model::NodeDumpPlace& place : facts.dump_places) {
      if (place.reach == dump.root && dump.path.starts_with(place.prefix))
        place.old_dumps.push_back(dump.path);
    }
  }
  for (model::NodeDumpPlace& place : facts.dump_places)
    std::sort(place.old_dumps.begin(), place.old_dumps.end());
}

std::string folder_to_ask(const std::string& prefix) {
  const std::string folder(folder_of(prefix));
  return folder.empty() ? "." : folder;
}

// The first folder above the one of the dumps that is there.
model::PathFacts nearest_above(const NodeView& view, const std::string& reach, const std::string& prefix) {
  constexpr std::size_t kDeepest = 64;
  std::string path(folder_of(prefix));
  std::vector<std::string> above;
  while (path.size() > 1 && above.size() < kDeepest) {
    const std::size_t last = path.find_last_not_of('/');
    const std::size_t slash = last == std::string::npos ? last : path.rfind('/', last);
    path = slash == std::string::npos ? std::string() : slash == 0 ? "/" : path.substr(0, slash);
    if (!path.empty()) above.push_back(path);
  }
  for (model::PathFacts& facts : view.paths(reach, above)) {
    if (facts.exists || !facts.looked) return std::move(facts);
  }
  return {};
}

}  // namespace

void look_at_dumps(const NodeView& view, model::NodeFacts& facts) {
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    if (!facts.workers[i].process.environment_known) continue;
    const Prefix prefix = prefix_of(view, i, facts.workers[i].torch_release);
    const std::string reach = reach_of_path(view, i, prefix.text);
    auto at = std::find_if(facts.dump_places.begin(), facts.dump_places.end(), [&](const auto& place) {
      return place.prefix == prefix.text && place.reach == reach && place.is_set == prefix.is_set;
    });
    if (at == facts.dump_places.end()) {
      model::NodeDumpPlace place;
      place.prefix = prefix.text;
      place.is_set = prefix.is_set;
      place.reach = reach;
      place.folder = view.paths(reach, {folder_to_ask(prefix.text)}).front();
      if (place.folder.looked && !place.folder.exists) place.above = nearest_above(view, reach, prefix.text);
      facts.dump_places.push_back(std::move(place));
      at = facts.dump_places.end() - 1;
    }
    at->workers.push_back(i);
  }
  if (!facts.dump_places.empty()) add_old_dumps(view, facts);
}

void look_at_fifos(const NodeView& view, model::NodeFacts& facts) {
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    const std::string* stem = view.variable_of(i, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
    if (stem == nullptr || stem->empty()) continue;
    const std::string reach = reach_of_path(view, i, *stem);
    auto at = std::find_if(facts.fifos.begin(), facts.fifos.end(),
                           [&](const auto& known) { return known.stem == *stem && known.reach == reach; });
    if (at == facts.fifos.end()) {
      model::NodeFifos fifos;
      fifos.stem = *stem;
      fifos.reach = reach;
      fifos.folder = view.paths(reach, {folder_to_ask(*stem)}).front();
      facts.fifos.push_back(std::move(fifos));
      at = facts.fifos.end() - 1;
    }
    at->workers.push_back(i);
  }
  constexpr std::size_t kMostPipes = 4096;
  for (model::NodeFifos& fifos : facts.fifos) {
    const auto reply = os::read_in_child(os::ReadRequest{.kind = os::ReadKind::kFolder,
                                                         .root = fifos.reach,
                                                         .path = folder_to_ask(fifos.stem),
                                                         .max_bytes = 4 << 20},
                                         view.deadlines);
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (std::string_view rest = reply.bytes; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const auto rank = rank_of_name(name, name_of_path(fifos.stem));
      if (rank && name == std::string(name_of_path(fifos.stem)) + std::to_string(*rank) + ".pipe" &&
          found.size() < kMostPipes)
        found.emplace_back(*rank, std::string(folder_of(fifos.stem)) + std::string(name));
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> paths;
    for (const auto& [rank, path] : found) paths.push_back(path);
    const auto pipes = view.paths(fifos.reach, paths, false);
    for (std::size_t i = 0; i < pipes.size(); ++i) fifos.pipes.emplace_back(found[i].first, pipes[i]);
  }
}

}  // namespace unhang::collect
