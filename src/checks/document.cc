// SPDX-License-Identifier: Apache-2.0
#include "checks/document.h"

namespace unhang::checks {

const Node* Document::child(const Node& map, std::string_view key) const {
  if (map.kind != Node::Kind::kMap) return nullptr;
  for (std::size_t i = map.keys.size(); i-- > 0;) {
    if (map.keys[i] == key) return &nodes[map.children[i]];
  }
  return nullptr;
}

}  // namespace unhang::checks
