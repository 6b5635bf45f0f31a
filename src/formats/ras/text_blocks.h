// SPDX-License-Identifier: Apache-2.0
//
// The blocks under "Errors" and "Warnings" of a text answer: lost processes, time-outs, and for each
// communicator in trouble its missing ranks, its errors and what its ranks differ in. Blocks and paragraphs
// are told by how their lines begin; blank lines mean nothing, as releases differ in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "formats/ras/line_words.h"
#include "formats/ras/text_draft.h"

namespace unhang::formats::ras {

class TextBlocks {
 public:
  TextBlocks(Reading& reading, TextDraft& draft) : x_reading(reading), x_draft(draft) {}

  void begin_answer();
  void begin_section();
  bool line(const Line& line);  // false: nothing that is known to stand there

 private:
  enum class Block : std::uint8_t { kNone, kSilent, kDead, kTimeout, kCommunicator };
  enum class Paragraph : std::uint8_t {
    kNone,
    kMissing,
    kStatus,
    kCounts,
    kUnknownCounts,  // of a collective that is not known here
    kInitErrors,
    kAsyncErrors,
  };

  model::RasCommunicator& communicator() { return x_draft.answer.communicators[x_current]; }
  bool heading(const Line& line);
  bool communicator_heading(const Line& line);
  bool process_line(LineWords words, const Line& line);
  bool paragraph_start(LineWords words, const Line& line);
  bool several_ranks(LineWords words, const Line& line);
  bool one_rank(LineWords words, const Line& line);
  bool one_rank_reported(LineWords words, model::RasRank rank, const Line& line);
  bool one_rank_differs(LineWords words, model::RasRank rank, const Line& line);
  bool rank_list(LineWords words, const Line& line);
  bool add_rank(model::RasRank rank, const Line& line);
  bool add_share(model::RasShare share, const Line& line);
  void apply_share(model::RasRank& rank, const model::RasShare& share) const;
  void apply_error(model::RasRank& rank, model::NcclResult result) const;

  Reading& x_reading;
  TextDraft& x_draft;
  Block x_block = Block::kNone;
  Paragraph x_paragraph = Paragraph::kNone;
  std::size_t x_current = 0;  // the communicator of the block
  // (hash, group and index) -> its place: one of them may have a block in both sections
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> x_places;
  bool x_names_share = false;  // "Rank R -- …" names ranks of the last share, or of the last error
  model::RasCollective x_collective = model::RasCollective::kAny;
};

}  // namespace unhang::formats::ras
