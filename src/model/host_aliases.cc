// SPDX-License-Identifier: Apache-2.0
#include "model/host_aliases.h"

namespace unhang::model {

HostAliases::HostAliases(const std::vector<HostIdentity>& hosts) {
  for (const HostIdentity& host : hosts) {
    for (const std::string& alias : host.aliases) x_names.emplace(alias, host.name);
  }
}

std::string_view HostAliases::name_for(std::string_view name) const {
  const auto at = x_names.find(name);
  return at == x_names.end() ? name : std::string_view(at->second);
}

}  // namespace unhang::model
