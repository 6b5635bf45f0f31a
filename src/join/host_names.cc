// SPDX-License-Identifier: Apache-2.0
#include "join/host_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace unhang::join {
namespace {

// Of every machine, or of none.
bool is_anybodys(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "0.0.0.0" || address == "::" ||
         address.starts_with("169.254.") || address.starts_with("fe80:") || address == "localhost";
}

// Names before addresses, short before long, then by letters.
auto preference(const std::string& name) {
  return std::tuple(is_host_address(name), std::count(name.begin(), name.end(), '.'), name);
}

}  // namespace

bool is_host_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

void HostNames::add(std::string_view name) {
  if (!name.empty() && !is_anybodys(name)) x_names.emplace(name);
}

void HostNames::same(std::string_view one, std::string_view other) {
  if (one.empty() || other.empty() || one == other || is_anybodys(one) || is_anybodys(other)) return;
  add(one);
  add(other);
  if (is_host_address(other)) {
    x_claims[std::string(other)].emplace(one);
  } else if (is_host_address(one)) {
    x_claims[std::string(one)].emplace(other);
  } else {
    x_equal.emplace_back(one, other);
  }
}

const std::string& HostNames::root(const std::string& name) {
  auto at = x_parent.find(name);
  while (at->second != at->first) {
    const auto up = x_parent.find(at->second);
    at->second = up->second;
    at = up;
  }
  return at->first;
}

void HostNames::unite(const std::string& one, const std::string& other) {
  const std::string a = root(one);
  const std::string b = root(other);
  if (a == b) return;
  const bool first = preference(a) < preference(b);
  x_parent[first ? b : a] = first ? a : b;
}

void HostNames::unite_long_and_short() {
  std::map<std::string_view, std::vector<const std::string*>> long_names;
  for (const std::string& name : x_names) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos && !is_host_address(name))
      long_names[std::string_view(name).substr(0, dot)].push_back(&name);
  }
  for (const auto& [label, names] : long_names) {
    const auto bare = x_names.find(label);
    if (bare != x_names.end() && names.size() == 1) unite(*bare, *names.front());
  }
}

void HostNames::settle() {
  for (const std::string& name : x_names) x_parent.emplace(name, name);
  unite_long_and_short();
  for (const auto& [one, other] : x_equal) unite(one, other);
  for (const auto& [address, claimants] : x_claims) {
    std::set<std::string> machines;
    for (const std::string& claimant : claimants) machines.insert(root(claimant));
    if (machines.size() == 1) {
      unite(address, *machines.begin());
    } else {
      x_nobodys.insert(address);
    }
  }
  for (const std::string& name : x_names) x_canonical[name] = root(name);
}

std::string_view HostNames::name_for(std::string_view name) const {
  const auto at = x_canonical.find(name);
  return at == x_canonical.end() ? name : std::string_view(at->second);
}

std::vector<model::HostIdentity> HostNames::hosts() const {
  std::map<std::string, model::HostIdentity> by_name;
  for (const auto& [name, canonical] : x_canonical) {
    if (x_nobodys.count(name) != 0) continue;
    model::HostIdentity& host = by_name[canonical];
    host.name = canonical;
    if (name != canonical) host.aliases.push_back(name);
  }
  std::vector<model::HostIdentity> out;
  for (auto& [name, host] : by_name) out.push_back(std::move(host));
  return out;
}

}  // namespace unhang::join
