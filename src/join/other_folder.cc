// SPDX-License-Identifier: Apache-2.0
#include "join/other_folder.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace unhang::join {
namespace {

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/!");
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

struct Folder {
  std::map<std::int32_t, std::size_t> by_rank;  // index of a dump
  std::int64_t newest_ns = 0;
};

bool is_other_job(const Folder& one, const Folder& other, const std::vector<JoinedDump>& dumps) {
  constexpr std::size_t kSeveral = 2;
  std::size_t different = 0;
  for (const auto& [rank, index] : one.by_rank) {
    const auto at = other.by_rank.find(rank);
    if (at != other.by_rank.end() && !same_process(dumps[index], dumps[at->second]) &&
        ++different == kSeveral)
      return true;
  }
  return false;
}

// The newer by more than a minute; of those of one time the one with most ranks.
bool is_better(const Folder& one, const Folder& other) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  if (one.newest_ns / kMinute != other.newest_ns / kMinute &&
      std::abs(one.newest_ns / 2 - other.newest_ns / 2) > kMinute / 2)
    return one.newest_ns > other.newest_ns;
  return one.by_rank.size() > other.by_rank.size();
}

}  // namespace

void set_aside_other_folders(std::vector<JoinedDump>& dumps, const model::Case& joined) {
  std::map<std::string_view, Folder> folders;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    if (!dumps[i].kept()) continue;
    Folder& folder = folders[folder_of(joined.inputs[dumps[i].input].path)];
    folder.by_rank.emplace(*dumps[i].rank, i);
    folder.newest_ns = std::max(folder.newest_ns, dumps[i].last_ns());
  }
  if (folders.size() < 2) return;
  auto job = folders.begin();
  for (auto at = std::next(folders.begin()); at != folders.end(); ++at) {
    if (is_better(at->second, job->second)) job = at;
  }
  std::set<std::string_view> others;
  for (const auto& [name, folder] : folders) {
    if (name != job->first && is_other_job(job->second, folder, dumps)) others.insert(name);
  }
  for (JoinedDump& dump : dumps) {
    if (!dump.kept() || others.count(folder_of(joined.inputs[dump.input].path)) == 0) continue;
    dump.set_aside = "another job or run: its folder has dumps of the same ranks from other processes than " +
                     std::string(job->first.empty() ? "." : job->first);
  }
}

}  // namespace unhang::join
