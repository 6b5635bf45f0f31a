// SPDX-License-Identifier: Apache-2.0
//
// Which names are one machine. NCCL says "gpu-b07", RAS "10.0.0.7", the scheduler "gpu-b07.cluster.example"
// and Kubernetes "llama-0-3": findings of different sources meet only under one name.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/identity.h"

namespace unhang::join {

class HostNames {
 public:
  // Somebody calls a machine so. Empty names are none.
  void add(std::string_view name);
  // A source shows that both are one machine. An address that two machines claim (docker0's is the same
  // everywhere) belongs to nobody.
  void same(std::string_view one, std::string_view other);
  // Decides. Long and short names are one machine where only one long name begins with the short one.
  void settle();

  // After settle(): the name to use; `name` itself where nothing is known of it. The reference lives as long
  // as this or the argument.
  std::string_view name_for(std::string_view name) const;
  // Ascending name; without addresses that are nobody's.
  std::vector<model::HostIdentity> hosts() const;

 private:
  const std::string& root(const std::string& name);
  void unite(const std::string& one, const std::string& other);
  void unite_long_and_short();

  std::set<std::string, std::less<>> x_names;
  std::map<std::string, std::set<std::string>> x_claims;     // address -> who has it
  std::vector<std::pair<std::string, std::string>> x_equal;  // names, no addresses
  std::set<std::string> x_nobodys;
  std::map<std::string, std::string> x_parent;
  std::map<std::string, std::string, std::less<>> x_canonical;
};

// An IPv4 or IPv6 address, not a name.
bool is_host_address(std::string_view host);

}  // namespace unhang::join
