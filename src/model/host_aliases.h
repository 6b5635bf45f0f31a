// SPDX-License-Identifier: Apache-2.0
//
// One name for each machine: whoever compares hosts of two sources asks for the name that Case::hosts has for
// both. Values only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/identity.h"

namespace unhang::model {

class HostAliases {
 public:
  HostAliases() = default;
  explicit HostAliases(const std::vector<HostIdentity>& hosts);

  // `name` itself where nothing is known of it. The reference lives as long as this or the argument.
  std::string_view name_for(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> x_names;
};

}  // namespace unhang::model
