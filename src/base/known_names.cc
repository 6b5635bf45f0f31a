// SPDX-License-Identifier: Apache-2.0
#include "base/known_names.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/ascii_class.h"
#include "base/host_shape.h"

namespace unhang::base {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMostParts = 12;     // of a name, between '.', '-' and '_'
constexpr std::size_t kMostMembers = 16;   // of a node list that is written out
constexpr std::size_t kLongestList = 400;  // bytes between its brackets
constexpr std::size_t kMostDigits = 6;     // of the number of a host

std::size_t part_end(std::string_view text, std::size_t at, std::size_t end) {
  while (at < end && is_alphanumeric(text[at])) ++at;
  return at;
}

std::string_view without_number(std::string_view part) {
  return part.substr(0, part.size() - digits_at_end(part));
}

std::string first_part(std::string_view name) {
  return lower_case(without_number(name.substr(0, part_end(name, 0, name.size()))));
}

// The numbers of "01-04,7" as written, with their zeros; empty: too many, or none of that form.
std::vector<std::string> members_of(std::string_view list) {
  std::vector<std::string> members;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view range = list.substr(at, end - at);
    at = end + 1;
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view low = range.substr(0, dash),
                           high = dash < range.size() ? range.substr(dash + 1) : low;
    unsigned from = 0, to = 0;
    const auto read = [](std::string_view text, unsigned& number) {
      const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
      return result.ec == std::errc() && result.ptr == text.data() + text.size();
    };
    if (low.size() > 9 || !read(low, from) || !read(high, to) || to < from) return {};
    if (to - from >= kMostMembers || members.size() + (to - from) >= kMostMembers) return {};
    for (unsigned number = from; number <= to; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      members.push_back(std::move(digits));
    }
  }
  return members;
}

}  // namespace

void KnownNames::add(const std::string& name, std::string replacement) {
  x_names.emplace(name, std::move(replacement));
  x_sorted.insert(name);
  x_first.insert(first_part(name));
  std::size_t parts = 1;
  for (const char c : name) parts += !is_alphanumeric(c);
  x_most_parts = std::max(x_most_parts, std::min(parts, kMostParts));
}

bool KnownNames::add_host(std::string_view whole) {
  while (!whole.empty() && (whole.back() == '.' || whole.back() == '-')) whole.remove_suffix(1);
  const std::string name = lower_case(whole);
  if (x_names.contains(name)) return true;
  if (!can_name_host(whole) || !is_alphanumeric(name.front()) || pseudonym_at(name, 0) > 0) return false;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string shorter = name.substr(0, dot);
  add(name, host_text(name));
  if (dot < name.size()) {
    const std::string domain = name.substr(dot + 1);
    // A domain of one word ("lan") would be found in too many places.
    if (!is_shared_domain(domain) && domain.find('.') != std::string::npos && x_domains.insert(domain).second)
      add(domain, pseudonym(NameKind::kDomain, x_key, domain));
    if (!can_name_host(shorter)) return true;
    add(shorter, host_text(shorter));
  }
  const std::string_view prefix = without_number(shorter);
  if (prefix.size() < shorter.size() && can_number_hosts(prefix)) {
    x_prefixes.emplace(prefix);
    x_first.insert(first_part(prefix));
  }
  return true;
}

void KnownNames::add_name(std::string_view whole) {
  const std::string name = lower_case(whole);
  if (name.size() < 3 || name.size() > kLongestName || !can_name_host(whole) ||
      !is_alphanumeric(name.front()) || pseudonym_at(name, 0) > 0)
    return;
  add(name, pseudonym(NameKind::kName, x_key, name));
}

bool KnownNames::begins_name(std::string_view tail) const {
  if (tail.size() > kLongestName || !can_name_host(tail)) return false;
  const std::string small = lower_case(tail);
  const auto it = x_sorted.lower_bound(small);
  return it != x_sorted.end() && it->size() > small.size() && it->starts_with(small);
}

std::string KnownNames::host_text(std::string_view name) const {
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::string out = pseudonym_at(name, 0) == dot ? std::string(name.substr(0, dot))
                                                 : pseudonym(NameKind::kHost, x_key, name.substr(0, dot));
  if (dot == name.size()) return out;
  const std::string domain = lower_case(name.substr(dot + 1));
  if (is_shared_domain(domain) || pseudonym_at(domain, 0) == domain.size()) return out + "." + domain;
  return out + "." + pseudonym(NameKind::kDomain, x_key, domain);
}

KnownNames::Found KnownNames::in_domain(std::string_view text, std::size_t at, std::size_t run_end) const {
  if (x_domains.empty() || run_end - at > kLongestName) return {};
  while (run_end > at && !is_alphanumeric(text[run_end - 1])) --run_end;
  const std::string name = lower_case(text.substr(at, run_end - at));
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::string_view domain = std::string_view(name).substr(dot + 1);
    if (!x_domains.contains(domain)) continue;
    std::string short_name = name.substr(0, dot);
    return {run_end, pseudonym(NameKind::kHost, x_key, short_name) + "." +
                         pseudonym(NameKind::kDomain, x_key, domain)};
  }
  return {};
}

// Variables and file names have '_' where a host's name has '-', and the other way round.
KnownNames::Found KnownNames::in_other_spelling(std::string_view small, std::size_t end) const {
  for (const auto& [from, to] : {std::pair{'_', '-'}, std::pair{'-', '_'}}) {
    if (small.find(from) == std::string_view::npos) continue;
    std::string other(small);
    std::replace(other.begin(), other.end(), from, to);
    if (const auto it = x_names.find(other); it != x_names.end()) return {end, it->second};
    const std::string_view prefix = without_number(other);
    if (prefix.size() < other.size() && other.size() - prefix.size() <= kMostDigits &&
        x_prefixes.contains(prefix))
      return {end, host_text(other)};
  }
  return {};
}

KnownNames::Found KnownNames::at(std::string_view text, std::size_t at, std::size_t run_begin,
                                 std::size_t run_end) const {
  const std::size_t first_end = part_end(text, at, run_end);
  if (at == run_begin) {
    if (Found found = in_domain(text, at, run_end); found.end != 0) return found;
  }
  if (first_end - at > kLongestName) return {};
  if (!x_first.contains(lower_case(without_number(text.substr(at, first_end - at))))) return {};
  if (run_end < text.size() && text[run_end] == '[' && run_end - at <= kLongestName) {
    if (x_prefixes.contains(lower_case(text.substr(at, run_end - at)))) {
      if (Found found = node_list_at(text, at, run_end); found.end != 0) return found;
    }
  }
  std::vector<std::size_t> ends{first_end};
  while (ends.size() < x_most_parts && ends.back() < run_end) {
    std::size_t next = ends.back() + 1;
    const std::size_t end = part_end(text, next, run_end);
    if (end == next || end - at > kLongestName) break;
    ends.push_back(end);
  }
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const std::string_view name = text.substr(at, *end - at);
    if (is_device_name(name)) continue;
    const std::string small = lower_case(name);
    if (const auto it = x_names.find(small); it != x_names.end()) return {*end, it->second};
    if (Found found = in_other_spelling(small, *end); found.end != 0) return found;
    const std::string_view prefix = without_number(small);
    if (prefix.size() < small.size() && small.size() - prefix.size() <= kMostDigits &&
        x_prefixes.contains(prefix))
      return {*end, host_text(small)};
  }
  return {};
}

KnownNames::Found KnownNames::node_list_at(std::string_view text, std::size_t at, std::size_t bracket) const {
  std::size_t close = bracket + 1;
  while (close < text.size() && close - bracket < kLongestList &&
         (is_digit(text[close]) || text[close] == ',' || text[close] == '-'))
    ++close;
  if (close >= text.size() || text[close] != ']' || close == bracket + 1) return {};
  const std::string prefix = lower_case(text.substr(at, bracket - at));
  const std::vector<std::string> members = members_of(text.substr(bracket + 1, close - bracket - 1));
  Found found{close + 1, ""};
  for (const std::string& member : members) {
    found.text += found.text.empty() ? "" : ",";
    found.text += host_text(prefix + member);
  }
  if (members.empty()) found.text = host_text(lower_case(text.substr(at, close + 1 - at)));
  return found;
}

}  // namespace unhang::base
