// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/log/prefix_pieces.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kNodeNames = 4096;
constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15ull;
constexpr std::uint32_t kPieces = 16;  // nobody stacks more

}  // namespace

bool NodeNames::knows(std::string_view name) const {
  return std::binary_search(x_names.begin(), x_names.end(), name);
}

void NodeNames::learn(std::string_view name) {
  // The numbers of srun stand in front of every line.
  std::uint64_t packed = 0;
  if (name.size() < sizeof packed) {
    std::memcpy(&packed, name.data(), name.size());
    packed |= static_cast<std::uint64_t>(name.size()) << 56;
    if (std::exchange(x_short[packed * kMixer >> 56], packed) == packed) return;
  }
  const auto at = std::lower_bound(x_names.begin(), x_names.end(), name);
  if ((at == x_names.end() || *at != name) && x_names.size() < kNodeNames) x_names.emplace(at, name);
}

Prefix read_prefix(std::string_view line, const NodeNames& nodes) {
  Prefix prefix;
  Scanner in(line);
  // A piece that may be something else counts only when a certain one follows: `sure` is where that ends.
  std::size_t sure = 0;
  Prefix sure_prefix;
  std::string_view doubtful_node;
  for (std::uint32_t i = 0; i < kPieces && !in.at_end() && prefix.nccl == NcclLevel::kNone; ++i) {
    const Piece piece = take_piece(in, prefix, nodes, doubtful_node);
    if (piece == Piece::kNone) break;
    if (piece == Piece::kDoubtful) continue;
    if (piece == Piece::kDecoration) {
      if (in.at() != sure && sure_prefix.pieces == 0 && doubtful_node.empty()) sure = in.at();
      continue;
    }
    ++prefix.pieces;
    if (!doubtful_node.empty()) {
      prefix.new_node = doubtful_node;
      doubtful_node = {};
    }
    sure = in.at();
    sure_prefix = prefix;
  }
  sure_prefix.length = sure;
  sure_prefix.unknown_node = doubtful_node.empty() ? prefix.unknown_node : doubtful_node;
  return sure_prefix;
}

}  // namespace unhang::formats::log
