// SPDX-License-Identifier: Apache-2.0
//
// A YAML or JSON document as a tree of plain nodes, for finding the lists of variables in pod specs. Bounded
// in size and depth; an alias of YAML shares the node of its anchor, so a walk must count its steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unhang::checks {

struct Node {
  enum class Kind : std::uint8_t { kScalar, kMap, kList };
  Kind kind = Kind::kScalar;
  bool is_text = true;     // a scalar that is text for sure: quoted, or no number, boolean or null
  std::uint64_t line = 0;  // from 1; 0: not known
  std::string scalar;
  std::vector<std::string> keys;        // of a map, beside `children`
  std::vector<std::uint32_t> children;  // indices into Document::nodes
};

struct Document {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> roots;  // of each document of the stream

  // The child of a map, the last where the key is there twice; nullptr: none, or no map.
  const Node* child(const Node& map, std::string_view key) const;
};

inline constexpr std::size_t kMostNodes = 1'000'000;
inline constexpr std::size_t kMostDepth = 200;

// kData with the line and what is wrong there.
base::Result<Document> read_yaml(std::string_view text);
base::Result<Document> read_json(std::string_view text);

}  // namespace unhang::checks
