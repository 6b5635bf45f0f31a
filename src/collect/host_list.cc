// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "base/printable.h"
#include "collect/fan_out_members.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kLongestName = 253;  // of a name of DNS
constexpr std::size_t kLongestFile = 1 << 20;
constexpr std::size_t kMostDigits = 9;

base::Error no_list(std::string_view text, std::string why) {
  return {base::ErrorCode::kUsage,
          "'" + base::printable(text.substr(0, 80)) + "' is no list of hosts: " + std::move(why)};
}

class HostList {
 public:
  base::Result<> add_list(std::string_view list) {
    if (list.starts_with('@')) return add_file(std::string(list.substr(1)));
    std::size_t depth = 0, begin = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
      const char c = at < list.size() ? list[at] : ',';
      if (c == '[') ++depth;
      if (c == ']' && depth > 0) --depth;
      if (c != ',' || (depth > 0 && at < list.size())) continue;
      const std::string_view part = trimmed(list.substr(begin, at - begin));
      begin = at + 1;
      if (part.empty()) continue;
      if (auto added = expand("", part); !added) return added;
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(x_names); }

 private:
  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  }

  base::Result<> add_file(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) ||
        std::filesystem::file_size(path, error) > kLongestFile)
      return base::fail(base::ErrorCode::kUsage,
                        path + ": no file with a list of hosts (or one of more than 1 MiB)");
    std::ifstream file(path);
    if (!file) return base::fail(base::ErrorCode::kUsage, path + " cannot be opened");
    for (std::string line; std::getline(file, line);) {
      const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
      const std::string_view word = text.substr(0, text.find_first_of(" \t"));
      if (word.starts_with('@')) return base::fail(no_list(word, "a file names no other file"));
      if (auto added = add_list(word); !added) return added;
    }
    return {};
  }

  // `done` is what is expanded already, in front of `rest`.
  base::Result<> expand(const std::string& done, std::string_view rest) {
    const std::size_t open = rest.find('[');
    if (open == std::string_view::npos) return add_name(done + std::string(rest));
    const std::size_t close = rest.find(']', open);
    if (close == std::string_view::npos) return base::fail(no_list(rest, "there is a '[' without ']'"));
    std::string_view ranges = rest.substr(open + 1, close - open - 1);
    const std::string before = done + std::string(rest.substr(0, open));
    if (ranges.empty()) return base::fail(no_list(rest, "there is nothing between '[' and ']'"));
    while (!ranges.empty()) {
      const std::size_t end = std::min(ranges.find(','), ranges.size());
      if (auto added = expand_range(before, ranges.substr(0, end), rest.substr(close + 1)); !added)
        return added;
      ranges.remove_prefix(std::min(end + 1, ranges.size()));
    }
    return {};
  }

  base::Result<> expand_range(const std::string& before, std::string_view range, std::string_view after) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.size() ? low : range.substr(dash + 1);
    const auto first = number(low), last = number(high);
    if (first < 0 || last < first) return base::fail(no_list(range, "no number or range like 01-04"));
    for (long i = first; i <= last; ++i) {
      std::string text = std::to_string(i);
      if (text.size() < low.size()) text.insert(0, low.size() - text.size(), '0');
      if (auto added = expand(before + text, after); !added) return added;
    }
    return {};
  }

  static long number(std::string_view digits) {
    long value = -1;
    if (digits.empty() || digits.size() > kMostDigits) return -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : -1;
  }

  base::Result<> add_name(std::string name) {
    if (!is_member_name(name))
      return base::fail(no_list(name, "a name has letters, digits and . _ @ : - only, and no '-' in front"));
    if (!x_known.insert(name).second) return {};
    if (x_names.size() >= kMaxMembers)
      return base::fail(no_list(name, "there are more than " + std::to_string(kMaxMembers) + " names"));
    x_names.push_back(std::move(name));
    return {};
  }

  std::vector<std::string> x_names;
  std::set<std::string> x_known;
};

}  // namespace

bool is_member_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._@:-").find(c) != std::string_view::npos;
         });
}

base::Result<std::vector<std::string>> parse_host_list(std::string_view list) {
  HostList names;
  if (auto added = names.add_list(list); !added) return base::fail(std::move(added.error()));
  return names.take();
}

}  // namespace unhang::collect
