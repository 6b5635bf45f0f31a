// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "formats/log/prefix_pieces.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kLongestName = 80;

bool is_ipv4(std::string_view name) {
  Scanner in(name);
  std::int64_t part = 0;
  for (int i = 0; i < 4; ++i) {
    if ((i != 0 && !in.take('.')) || !in.digits(1, 3, part) || part > 255) return false;
  }
  return in.at_end();
}

// "GPU0: ", "eth0: ", "step_10: " name no node, and a word without digit, dash or dot is a word.
bool may_be_node(std::string_view name) {
  constexpr std::array<std::string_view, 14> kOther{"gpu",  "cuda",  "eth",    "ib",    "mlx",
                                                    "nic",  "rank",  "step",   "epoch", "iter",
                                                    "link", "layer", "nvidia", "nvlink"};
  if (name.find_first_of("0123456789-.") == std::string_view::npos) return false;
  for (const std::string_view other : kOther) {
    if (name.size() < other.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < other.size() && same; ++i) same = (name[i] | 0x20) == other[i];
    if (same) return false;
  }
  return true;
}

}  // namespace

Piece take_node(Scanner& in, Prefix& prefix, const NodeNames& nodes, std::string_view& doubtful_node) {
  std::size_t n = 0, digits = 0;
  for (char c = in.peek(); n <= kLongestName && of_name(c); c = in.peek(++n)) digits += c >= '0' && c <= '9';
  if (n == 0 || n > kLongestName) return Piece::kNone;
  const std::string_view name = in.rest().substr(0, n);
  if (in.peek(n) == ' ') {  // "name.node.nolog [stderr] "
    const std::string_view behind = in.rest().substr(n);
    if (!behind.starts_with(" [stderr] ") && !behind.starts_with(" [stdout] ")) return Piece::kNone;
    in.move_to(in.at() + n + 10);
    return Piece::kCertain;
  }
  if (in.peek(n) != ':' || in.peek(n + 1) != ' ' || !doubtful_node.empty()) return Piece::kNone;
  const bool number = digits == n;
  const bool known = nodes.knows(name);
  if (number && n > 6) return Piece::kNone;
  if (!number && !(known || is_ipv4(name) || may_be_node(name))) {
    prefix.unknown_node = name;
    return Piece::kNone;
  }
  if (number) {
    std::int64_t rank = 0;
    if (in.digits(1, 6, rank) && prefix.global_rank < 0) prefix.global_rank = static_cast<std::int32_t>(rank);
  } else if (prefix.host.empty()) {
    prefix.host = name;
  }
  in.move_to(in.at() + (number ? 2 : n + 2));
  if (known || is_ipv4(name)) return Piece::kCertain;
  doubtful_node = name;
  return Piece::kDoubtful;
}

}  // namespace unhang::formats::log
