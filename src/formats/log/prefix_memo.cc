// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix_memo.h"

#include <cstring>

#include "formats/log/find_text.h"
#include "formats/log/writers.h"

namespace unhang::formats::log {
namespace {

constexpr std::string_view kEnd = "NCCL INFO ";
constexpr std::size_t kLongest = 160;  // behind a time of a collector and a long name of a pod

// All of `text`, eight bytes at a time; the last eight may overlap those before them. At least 8 bytes.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15ull;
  constexpr std::size_t kStep = sizeof(std::uint64_t);
  std::uint64_t hash = text.size(), value = 0;
  for (std::size_t at = 0; at + kStep <= text.size(); at += kStep) {
    std::memcpy(&value, text.data() + at, kStep);
    hash = (hash ^ value) * kMixer;
    hash ^= hash >> 32;
  }
  std::memcpy(&value, text.data() + text.size() - kStep, kStep);
  hash = (hash ^ value) * kMixer;
  return hash ^ hash >> 32;
}

void move_view(std::string_view& view, const char* from, const char* to) {
  if (view.data() != nullptr) view = {to + (view.data() - from), view.size()};
}

void move_views(Prefix& prefix, const char* from, const char* to) {
  move_view(prefix.host, from, to);
  move_view(prefix.label, from, to);
  move_view(prefix.source_file, from, to);
  move_view(prefix.new_node, from, to);
  move_view(prefix.unknown_node, from, to);
}

// Whether nothing behind it had a say in how it was read: what stands between brackets, and the markup of a
// page, is looked for as far as the end of the line. One that has a time is no other line's.
bool stands_alone(const Prefix& prefix, std::string_view text) {
  return prefix.nccl == NcclLevel::kInfo && prefix.length == text.size() && !prefix.time.known() &&
         text.find_first_of("(`") == std::string_view::npos;
}

}  // namespace

Prefix PrefixMemo::read(std::string_view line, std::uint64_t& writer) {
  static const NodeNames kNobody;
  writer = 0;
  const std::size_t end = find_text(line.substr(0, kLongest), kEnd);
  if (end == std::string_view::npos) return read_prefix(line, kNobody);
  const std::string_view text = line.substr(0, end + kEnd.size());
  Slot& slot = x_slots[hash_of(text) % kSlots];
  if (slot.text == text) {
    Prefix prefix = slot.prefix;
    move_views(prefix, slot.text.data(), line.data());
    writer = slot.writer;
    return prefix;
  }
  const Prefix prefix = read_prefix(line, kNobody);
  if (stands_alone(prefix, text)) {
    slot = {.text = std::string(text), .prefix = prefix, .writer = writer_hash(prefix)};
    move_views(slot.prefix, line.data(), slot.text.data());
  }
  return prefix;
}

}  // namespace unhang::formats::log
