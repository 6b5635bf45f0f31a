// SPDX-License-Identifier: Apache-2.0
#include "detect/pod_name.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace unhang::detect {
namespace {

// Removes "-12" from the end; nullopt: there is no such number.
std::optional<int> take_number(std::string_view& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || digits.size() > 5 || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;  // "gpu-07" is a machine
  name = name.substr(0, dash);
  return number;
}

}  // namespace

std::string group_of_worker(std::string_view pod) {
  std::string_view group = pod;
  const auto worker = take_number(group);
  std::string_view set = group;
  if (!worker || *worker == 0 || !take_number(set)) return {};
  return std::string(group);
}

bool is_of_job_set(std::string_view pod) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";  // those that Kubernetes takes
  constexpr std::size_t kRandom = 5;
  const std::size_t dash = pod.rfind('-');
  if (dash == std::string_view::npos || pod.size() - dash - 1 != kRandom) return false;
  if (pod.substr(dash + 1).find_first_not_of(kLetters) != std::string_view::npos) return false;
  std::string_view rest = pod.substr(0, dash);
  return take_number(rest) && take_number(rest) && rest.find('-') != std::string_view::npos;
}

std::string group_of_all(const std::vector<std::string>& names) {
  std::map<std::string, std::set<int>> workers;
  std::set<std::string> leaders;
  for (const std::string& name : names) {
    const std::string group = group_of_worker(name);
    std::string_view rest = name;
    if (!group.empty()) {
      workers[group].insert(*take_number(rest));
    } else if (take_number(rest)) {
      leaders.insert(name);
    } else {
      return {};
    }
  }
  for (const auto& [group, numbers] : workers) {
    if (leaders.erase(group) == 0 || *numbers.rbegin() != static_cast<int>(numbers.size())) return {};
  }
  return workers.empty() || !leaders.empty() ? std::string() : workers.begin()->first;
}

}  // namespace unhang::detect
