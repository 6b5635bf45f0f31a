// SPDX-License-Identifier: Apache-2.0
#include "collect/fact_tree.h"

#include <algorithm>
#include <cerrno>

namespace unhang::collect {

constexpr std::size_t kMaxValue = 4096;

std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view kSpace{" \t\r\n\0", 5};
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> names_of_listing(std::string_view listing) {
  std::vector<std::string> names;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\0'), listing.size());
    if (end > 0) names.emplace_back(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> names_in_folder(const std::string& path, std::size_t most, SourceTally& tally) {
  const auto reply =
      os::read_in_child(os::ReadRequest{.kind = os::ReadKind::kFolder, .path = path, .max_bytes = 1 << 20},
                        tally.read_deadlines());
  if (!reply.usable()) {
    if (reply.error != ENOENT && reply.error != ENOTDIR) tally.not_readable(path, reply);
    return {};
  }
  std::vector<std::string> names = names_of_listing(reply.bytes);
  if (names.size() > most) {
    tally.note(path + ": only the first " + std::to_string(most) + " of " + std::to_string(names.size()) +
               " were looked at");
    names.resize(most);
  }
  return names;
}

std::map<std::string, std::string> read_values(const std::vector<std::string>& paths, SourceTally& tally) {
  std::vector<os::ReadRequest> requests;
  for (std::size_t i = 0; i < paths.size(); ++i)
    requests.push_back({.path = paths[i], .max_bytes = kMaxValue, .group = i});
  std::map<std::string, std::string> values;
  const auto replies = os::read_in_child(requests, tally.read_deadlines());
  bool refused = false;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const os::ReadReply& reply = replies[i];
    if (reply.usable()) {
      if (reply.is_regular) values.emplace(paths[i], without_space_around(reply.bytes));
    } else if (reply.end != os::ReadEnd::kFailed ||
               ((reply.error == EACCES || reply.error == EPERM) && !refused)) {
      refused = refused || reply.end == os::ReadEnd::kFailed;
      tally.not_readable(paths[i], reply);
    }
  }
  return values;
}

}  // namespace unhang::collect
