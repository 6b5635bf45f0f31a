// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/text_blocks.h"

#include <charconv>
#include <utility>

namespace unhang::formats::ras {

using model::RasPresence;
using model::RasRank;
using model::RasShare;
using model::RasStatus;
using model::Severity;

namespace {

// Numbers of ranks beyond this are garbage.
std::optional<std::uint32_t> rank_count(LineWords& words) {
  const auto value = words.count();
  if (!value || *value > static_cast<std::uint64_t>(kMaxRanks)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// "(b79ec9689dde9dc4)": 16 digits, or fewer behind "0x".
std::optional<std::uint64_t> read_hash(LineWords& words) {
  if (!words.take("(")) return std::nullopt;
  words.take("0x");
  std::string_view digits = words.rest().substr(0, words.rest().find(')'));
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  words.take(digits);
  if (!words.take(")")) return std::nullopt;
  return hash;
}

}  // namespace

void TextBlocks::begin_answer() {
  x_places.clear();
  begin_section();
}

void TextBlocks::begin_section() {
  x_block = Block::kNone;
  x_paragraph = Paragraph::kNone;
}

bool TextBlocks::line(const Line& line) {
  if (!line.text.starts_with("  ")) return heading(line);
  LineWords words(line.text);
  words.skip_blanks();
  switch (x_block) {
    case Block::kNone:
      return false;
    case Block::kSilent:
    case Block::kDead:
      return process_line(words, line);
    case Block::kTimeout: {
      if (!words.take("Encountered ")) return false;
      const auto count = words.count();
      if (count) x_draft.answer.timeouts = *count;
      return count.has_value();
    }
    case Block::kCommunicator:
      return paragraph_start(words, line) || several_ranks(words, line) || one_rank(words, line) ||
             rank_list(words, line);
  }
  return false;
}

bool TextBlocks::heading(const Line& line) {
  x_paragraph = Paragraph::kNone;
  if (line.text == "INCOMPLETE") {
    x_block = Block::kSilent;
  } else if (line.text == "DEAD") {
    x_block = Block::kDead;
  } else if (line.text == "TIMEOUT") {
    x_block = Block::kTimeout;
  } else if (!communicator_heading(line)) {
    x_block = Block::kNone;
    return false;
  }
  return true;
}

bool TextBlocks::communicator_heading(const Line& line) {
  LineWords words(line.text);
  if (!words.take("#")) return false;
  const auto group = words.count();
  if (!group || !words.take("-")) return false;
  const auto index = words.count();
  words.skip_blanks();
  const auto hash = read_hash(words);
  words.skip_blanks();
  if (!index || !hash || *group > INT32_MAX || *index > INT32_MAX || !x_reading.take_record(line.number)) {
    return false;
  }
  auto& all = x_draft.answer.communicators;
  const auto [place, added] = x_places.try_emplace({*hash, *group << 32 | *index}, all.size());
  const std::size_t at = place->second;
  if (added) {
    all.emplace_back();
    all.back().hash = *hash;
    all.back().text_group = static_cast<std::int32_t>(*group);
    all.back().text_index = static_cast<std::int32_t>(*index);
    all.back().line = line.number;
    x_draft.status_paragraph.push_back(false);
    x_draft.mismatch_paragraph.push_back(false);
  }
  x_current = at;
  x_block = Block::kCommunicator;
  return read_error_words(words.rest(), all[at].incomplete, all[at].error, all[at].mismatch);
}

bool TextBlocks::process_line(LineWords words, const Line& line) {
  const bool dead = x_block == Block::kDead;
  if (words.take("Missing communicator data from ")) {
    const auto count = words.count();
    if (count) x_draft.answer.silent_processes = *count;
    return count.has_value();
  }
  if (words.take("[could not find information on ")) return true;
  model::RasProcess process;
  if (read_process(words, process)) {
    process.dead = dead;
    if (x_reading.take_record(line.number)) x_draft.answer.lost_processes.push_back(std::move(process));
    return true;
  }
  const auto count = words.count();
  if (!count || !words.take(" job process")) return false;
  (dead ? x_draft.answer.dead_processes : x_draft.answer.silent_processes) = *count;
  return true;
}

bool TextBlocks::paragraph_start(LineWords words, const Line& line) {
  const auto begin_paragraph = [this](Paragraph paragraph) {
    x_paragraph = paragraph;
    x_names_share = false;
    return true;
  };
  if (words.take("Missing communicator data from ")) {
    const auto count = rank_count(words);
    if (count) communicator().missing_ranks = *count;
    return begin_paragraph(Paragraph::kMissing) && count;
  }
  if (words.take("Initialization error")) return begin_paragraph(Paragraph::kInitErrors);
  if (words.take("Asynchronous error")) return begin_paragraph(Paragraph::kAsyncErrors);
  if (!words.take("Communicator ranks have different ")) return false;
  x_draft.mismatch_paragraph[x_current] = true;
  if (words.rest() == "status") {
    x_draft.status_paragraph[x_current] = true;
    return begin_paragraph(Paragraph::kStatus);
  }
  const std::string_view name = words.word();
  if (words.rest() != " operation counts") return false;
  const auto collective = collective_of(name);
  begin_paragraph(collective ? Paragraph::kCounts : Paragraph::kUnknownCounts);
  if (collective) {
    x_collective = *collective;
  } else {
    x_reading.problem(Severity::kInfo, "unknown_collective",
                      "counts of a collective that is not known here are left out", line.number, line.offset);
  }
  return true;
}

// "7 ranks have launched up to operation 100", "3 ranks have status RUNNING", "13 ranks reported System
// error".
bool TextBlocks::several_ranks(LineWords words, const Line& line) {
  const auto ranks = rank_count(words);
  if (!ranks || !words.take(" ranks ")) return false;
  if (x_paragraph == Paragraph::kUnknownCounts) return true;
  RasShare share;
  share.ranks = *ranks;
  if (x_paragraph == Paragraph::kInitErrors || x_paragraph == Paragraph::kAsyncErrors) {
    if (!words.take("reported ") || !x_reading.take_record(line.number)) return false;
    communicator().error_shares.push_back(
        {result_of(words.rest()), x_paragraph == Paragraph::kInitErrors, *ranks});
    return true;
  }
  if (x_paragraph == Paragraph::kStatus) {
    const auto status = words.take("have status ") ? status_of(words.rest()) : std::nullopt;
    if (!status) return false;
    share.status = *status;
    return add_share(share, line);
  }
  if (x_paragraph != Paragraph::kCounts) return false;
  share.collective = x_collective;
  if (words.rest() == "have not launched any operations") return add_share(share, line);
  if (!words.take("have launched up to operation ")) return false;
  const auto count = words.count();
  if (!count || !words.at_end()) return false;
  share.count = *count;
  return add_share(share, line);
}

bool TextBlocks::add_share(RasShare share, const Line& line) {
  if (!x_reading.take_record(line.number)) return true;
  communicator().shares.push_back(std::move(share));
  x_names_share = true;
  return true;
}

// "Rank 5 …": it alone, or one of those that the line above counted.
bool TextBlocks::one_rank(LineWords words, const Line& line) {
  if (!words.take("Rank ")) return false;
  const auto number = words.integer();
  if (!number) return false;
  if (*number < 0 || *number >= kMaxRanks) {
    x_draft.answer.corrupt = true;
    x_reading.problem(Severity::kError, "corrupt_answer", "a rank that cannot be: " + std::to_string(*number),
                      line.number, line.offset);
    return true;
  }
  if (x_paragraph == Paragraph::kUnknownCounts) return true;
  RasRank rank;
  rank.rank = static_cast<std::int32_t>(*number);
  const bool errors = x_paragraph == Paragraph::kInitErrors || x_paragraph == Paragraph::kAsyncErrors;
  if (words.take(" -- ")) {
    if (words.rest() != "[process information not found]" && !read_place(words, rank)) return false;
    if (x_paragraph == Paragraph::kMissing) {
      rank.presence = RasPresence::kMissing;
    } else if (errors) {
      if (communicator().error_shares.empty()) return false;
      apply_error(rank, communicator().error_shares.back().result);
    } else {
      if (!x_names_share || communicator().shares.empty()) return false;
      RasShare& share = communicator().shares.back();
      if (share.named.size() >= share.ranks) return false;
      share.named.push_back(rank.rank);
      apply_share(rank, share);
    }
    return add_rank(std::move(rank), line);
  }
  return errors ? one_rank_reported(words, std::move(rank), line)
                : one_rank_differs(words, std::move(rank), line);
}

bool TextBlocks::one_rank_reported(LineWords words, RasRank rank, const Line& line) {
  if (!words.take(" reported ")) return false;
  const std::size_t end = words.rest().find(" -- ");
  if (end == std::string_view::npos) return false;
  const model::NcclResult result = result_of(words.rest().substr(0, end));
  words.take(words.rest().substr(0, end + 4));
  read_place(words, rank);
  if (!x_reading.take_record(line.number)) return true;
  communicator().error_shares.push_back({result, x_paragraph == Paragraph::kInitErrors, 1});
  apply_error(rank, result);
  return add_rank(std::move(rank), line);
}

bool TextBlocks::one_rank_differs(LineWords words, RasRank rank, const Line& line) {
  RasShare share;
  share.ranks = 1;
  if (x_paragraph == Paragraph::kStatus) {
    const auto status = words.take(" has status ") ? status_of(words.word()) : std::nullopt;
    if (!status) return false;
    share.status = *status;
  } else if (x_paragraph == Paragraph::kCounts) {
    share.collective = x_collective;
    if (words.take(" has launched up to operation ")) {
      const auto count = words.count();
      if (!count) return false;
      share.count = *count;
    } else if (!words.take(" has not launched any operations")) {
      return false;
    }
  } else {
    return false;
  }
  if (words.take(" -- ")) read_place(words, rank);
  share.named.push_back(rank.rank);
  apply_share(rank, share);
  add_share(std::move(share), line);
  x_names_share = false;
  return add_rank(std::move(rank), line);
}

// 2.24 and 2.25: "The missing ranks: 3,5,9", "The unknown ranks: 4,5,6,7".
bool TextBlocks::rank_list(LineWords words, const Line& line) {
  if (!words.take("The ")) return false;
  const bool missing = words.take("missing rank");
  if (!missing && !words.take("unknown rank")) return false;
  words.take("s");
  if (!words.take(": ")) return false;
  const auto ranks = words.list();
  if (!ranks || !words.at_end()) return false;
  if (missing ? x_paragraph != Paragraph::kMissing : !x_names_share || communicator().shares.empty()) {
    return false;
  }
  for (const std::int32_t number : *ranks) {
    if (number < 0 || number >= kMaxRanks) return false;
    RasRank rank;
    rank.rank = number;
    if (missing) {
      rank.presence = RasPresence::kMissing;
    } else {
      RasShare& share = communicator().shares.back();
      if (share.named.size() >= share.ranks) return false;
      share.named.push_back(number);
      apply_share(rank, share);
    }
    add_rank(std::move(rank), line);
  }
  return true;
}

bool TextBlocks::add_rank(RasRank rank, const Line& line) {
  if (x_reading.take_record(line.number)) communicator().ranks.push_back(std::move(rank));
  return true;
}

void TextBlocks::apply_share(RasRank& rank, const RasShare& share) const {
  if (share.collective) {
    rank.counts[static_cast<std::size_t>(*share.collective)] = share.count;
    return;
  }
  rank.status = share.status;
  rank.abort_flag = share.status == RasStatus::kAbort;
  if (share.status == RasStatus::kNoCommunicator) rank.presence = RasPresence::kNoCommunicator;
}

void TextBlocks::apply_error(RasRank& rank, model::NcclResult result) const {
  (x_paragraph == Paragraph::kInitErrors ? rank.init_state : rank.async_error) = result;
}

}  // namespace unhang::formats::ras
