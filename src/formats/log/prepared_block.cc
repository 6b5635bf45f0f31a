// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prepared_block.h"

#include <functional>
#include <utility>

#include "formats/log/nccl_shape.h"
#include "formats/log/writers.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kWriters = 512;  // of a block; more than this take turns

constexpr KeywordBits kWanted = kFamilyKeywords | bit(kGluedRecord) | bit(kWrappedRecord);
constexpr KeywordBits kNcclTells = bit(kNcclVersion) | bit(kNcclUnwinding) | bit(kNcclSetup) |
                                   bit(kNcclWarning) | bit(kNcclPhase) | bit(kNcclPointer) | bit(kNcclCall) |
                                   bit(kNcclWord);

// Lines of NCCL in which nothing is to be found: most of a log at level INFO with all subsystems.
bool is_dull(const Prefix& prefix, KeywordBits keywords) {
  return prefix.nccl != NcclLevel::kNone && prefix.nccl != NcclLevel::kWarn && (keywords & kNcclTells) == 0 &&
         !prefix.delta;
}

bool is_wanted(const Prefix& prefix, KeywordBits keywords) {
  return (keywords & kWanted) != 0 || prefix.nccl != NcclLevel::kNone || prefix.delta ||
         !prefix.new_node.empty();
}

// Of a writer of dull lines the first of a block is enough to know that it is there, and its node as well.
bool was_seen(std::vector<std::uint64_t>& writers, std::uint64_t hash, std::string_view node) {
  if (!node.empty()) hash ^= std::hash<std::string_view>()(node);
  return std::exchange(writers[hash % kWriters], hash) == hash;
}

}  // namespace

void prepare(PreparedBlock& block, const KeywordFilter& filter, bool all) {
  block.lines.clear();
  block.traits.clear();
  block.prepared.clear();
  block.writers.assign(kWriters, 0);
  block.counts = split_lines(block.text, block.lines);
  block.traits.reserve(block.lines.size());
  for (std::uint32_t i = 0; i < block.lines.size(); ++i) {
    const std::string_view line = block.line(i);
    std::uint64_t writer = 0;
    const Prefix prefix = block.prefixes.read(line, writer);
    const std::string_view message = line.substr(prefix.length);
    CallLine call;
    const auto shape = prefix.nccl == NcclLevel::kInfo ? keywords_of_shape(message, call) : std::nullopt;
    const KeywordBits keywords = shape ? *shape : filter.owners(message);
    std::uint8_t traits = 0;
    if (prefix.pieces != 0) traits |= PreparedBlock::kHasPrefix;
    if (prefix.time.known()) traits |= PreparedBlock::kHasTime;
    if (!message.empty() && message.front() != ' ' && message.front() != '\t')
      traits |= PreparedBlock::kHasWords;
    if (!prefix.unknown_node.empty()) traits |= PreparedBlock::kAsksNode;
    const bool wanted = all || is_wanted(prefix, keywords);
    if (wanted && writer == 0) writer = writer_hash(prefix);
    if (is_dull(prefix, keywords) && was_seen(block.writers, writer, prefix.new_node))
      traits |= PreparedBlock::kDull;
    if (all || (wanted && (traits & PreparedBlock::kDull) == 0))
      block.prepared.push_back(
          {.index = i, .keywords = keywords, .prefix = prefix, .writer = writer, .call = call});
    block.traits.push_back(traits);
  }
}

}  // namespace unhang::formats::log
