// SPDX-License-Identifier: Apache-2.0
#include "formats/log/line_stream.h"

#include <array>
#include <string>
#include <utility>

#include "formats/log/find_text.h"
#include "formats/log/glued_records.h"
#include "formats/log/line_blocks.h"
#include "formats/log/prefix.h"
#include "formats/log/wrapped_record.h"
#include "formats/log/writers.h"

namespace unhang::formats::log {
namespace {

constexpr int kGluedRecords = 64;  // of one line; what follows stays with the last
constexpr std::size_t kLastBytes = 1024;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Takes "**" and the right side of a rich box off; `scratch` holds the result where something was inside.
std::string_view without_markup(std::string_view text, std::string& scratch) {
  constexpr std::string_view kBox = "\xe2\x94\x82";
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  if (text.ends_with(kBox)) {
    text.remove_suffix(kBox.size());
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  }
  if (find_text(text, "**") == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "**" && text.substr(i, 3) != "***") {
      ++i;
    } else {
      scratch += text[i];
    }
  }
  return scratch;
}

}  // namespace

class LineStream::State {
 public:
  State(Facts& facts, const KeywordFilter& filter, OnLine on_line)
      : x_facts(facts), x_filter(filter), x_on_line(std::move(on_line)), x_writers(facts) {}

  void feed(std::string_view bytes) {
    x_blocks.feed(bytes);
    x_blocks.flush();
  }

  void take(const PreparedBlock& block) {
    std::size_t next = 0;
    for (const PreparedBlock::Line& prepared : block.prepared) {
      pass_over(block, next, prepared.index);
      logical(block.line(prepared.index), number_of(block, prepared.index), prepared);
      next = prepared.index + std::size_t{1};
    }
    pass_over(block, next, block.lines.size());
    settle();
    model::Log& log = x_facts.log();
    x_newlines += block.counts.newlines;
    log.lines = x_newlines + (block.counts.began ? 1 : 0);
    log.forgotten += block.counts.cut_lines;
  }

  void finish() {
    x_blocks.finish();
    end_wrapped();
    const Prefix prefix = read_prefix(x_last_text, x_nodes);
    model::Log& log = x_facts.log();
    log.last_origin = x_writers.of(prefix, writer_hash(prefix));
    log.last_text = shown(std::string_view(x_last_text).substr(prefix.length));
  }

  bool all_lines = false;

 private:
  std::uint64_t number_of(const PreparedBlock& block, std::size_t index) const {
    return x_newlines + block.lines[index].number + 1;
  }

  // Lines in which nothing was found: handed out only where somebody wants all; else what must be known of
  // them is remembered, and read only when it is asked for.
  void pass_over(const PreparedBlock& block, std::size_t from, std::size_t to) {
    for (; from < to && (all_lines || !x_wrapped.empty()); ++from) {
      known_logical(block.line(from), number_of(block, from), prepared_alone(block.line(from)));
    }
    if (from == to) return;
    std::uint64_t dull = 0;
    for (std::size_t i = from; i < to; ++i) {
      if ((block.traits[i] & PreparedBlock::kDull) != 0) ++dull;
      if ((block.traits[i] & PreparedBlock::kHasTime) != 0) {
        x_timed = block.line(i);
        if (!x_facts.log().first.known()) settle_time();
      }
      if ((block.traits[i] & PreparedBlock::kHasWords) != 0) x_worded = block.line(i);
    }
    x_facts.log().nccl_lines += dull;
    x_facts.log().recognised += dull;
    const std::uint8_t last = block.traits[to - 1];
    x_had_prefix = (last & PreparedBlock::kHasPrefix) != 0;
    if (!x_had_prefix && (last & PreparedBlock::kAsksNode) != 0 && !x_nodes.empty())
      x_had_prefix = read_prefix(block.line(to - 1), x_nodes).pieces != 0;
  }

  void settle_time() {
    if (x_timed.empty()) return;
    note_time(read_prefix(std::exchange(x_timed, {}), x_nodes));
  }

  // Before the text goes away in which the lines are that were passed over.
  void settle() {
    settle_time();
    if (!x_worded.empty()) x_last_text.assign(std::exchange(x_worded, {}).substr(0, kLastBytes));
  }

  // What worker threads find out, of a line that was not prepared or that is only a part of one.
  PreparedBlock::Line prepared_alone(std::string_view line) const {
    PreparedBlock::Line prepared;
    prepared.prefix = read_prefix(line, x_nodes);
    prepared.writer = writer_hash(prepared.prefix);
    prepared.keywords = x_filter.owners(line.substr(prepared.prefix.length));
    return prepared;
  }

  // A line as it was read: the rest of a wrapped record, one record, or several that were glued.
  void logical(std::string_view line, std::uint64_t number, const PreparedBlock::Line& prepared) {
    if (!prepared.prefix.unknown_node.empty() && x_nodes.knows(prepared.prefix.unknown_node))
      return known_logical(line, number, prepared_alone(line));
    known_logical(line, number, prepared);
  }

  void known_logical(std::string_view line, std::uint64_t number, const PreparedBlock::Line& prepared) {
    if (!x_wrapped.empty() && wrapped(line, prepared.prefix)) return;
    records(line, number, prepared, true);
  }

  // Hands out all that is glued together in `line`, whose first prefix is read already.
  void records(std::string_view line, std::uint64_t number, const PreparedBlock::Line& first, bool may_wrap) {
    std::size_t next = record(line, number, first, may_wrap, true);
    for (int count = 2; next != 0; ++count) {
      line.remove_prefix(next);
      next = record(line, number, prepared_alone(line), may_wrap, count < kGluedRecords);
    }
  }

  // Whether `line` was taken as the rest of a wrapped record.
  bool wrapped(std::string_view line, const Prefix& prefix) {
    if (line.empty() || prefix.pieces != 0 || ++x_wrapped_lines > kWrappedLines) {
      end_wrapped();
      return false;
    }
    join_wrapped(x_wrapped, line);
    if (!is_unfinished(x_wrapped)) end_wrapped();
    return true;
  }

  void end_wrapped() {
    if (x_wrapped.empty()) return;
    const std::string text = std::exchange(x_wrapped, {});
    records(text, x_wrapped_number, prepared_alone(text), false);
    settle();  // what is remembered of it lies in `text`
  }

  // Hands out the first record of `line`; where the next begins, 0 when there is no other.
  std::size_t record(std::string_view line, std::uint64_t number, const PreparedBlock::Line& read,
                     bool may_wrap, bool may_split) {
    const Prefix& prefix = read.prefix;
    if (!prefix.new_node.empty()) x_nodes.learn(prefix.new_node);
    std::string_view message = line.substr(prefix.length);
    model::LogTime time = prefix.time;
    if (time.known()) {
      if (prefix.delta) settle_time();
      x_timed = {};
      time = note_time(prefix);
    }
    // NCCL prints an empty line before a warning, to which launchers add a prefix: such lines are no last
    // words.
    if (!message.empty() && !is_blank(message.front())) x_worded = line;
    const bool nccl = prefix.nccl != NcclLevel::kNone;
    if (nccl) ++x_facts.log().nccl_lines;
    const bool may_be_glued = (read.keywords & bit(nccl ? kNcclWord : kGluedRecord)) != 0;
    const bool may_be_wrapped =
        nccl ? prefix.nccl == NcclLevel::kWarn : (read.keywords & bit(kWrappedRecord)) != 0;
    std::size_t next = 0;
    if (may_split && may_be_glued) {
      next = next_record(line, prefix.length + 1, prefix.host);
      if (next == std::string_view::npos) next = 0;
    }
    KeywordBits keywords = read.keywords;
    if (next != 0) {
      line = line.substr(0, next);
      message = line.substr(prefix.length);
      keywords = x_filter.owners(message);
    } else if (may_wrap && may_be_wrapped && is_unfinished(message)) {
      settle();
      x_wrapped.assign(line);
      x_wrapped_number = number;
      x_wrapped_lines = 1;
      return 0;
    }
    if ((keywords & kFamilyKeywords) == 0 && !nccl && !all_lines) {
      x_had_prefix = prefix.pieces != 0;
      return next;
    }
    Line out;
    out.number = number;
    out.whole = line;
    out.message = message;
    out.time = time;
    out.keywords = keywords;
    if (read.call.pointer != 0) out.call = &read.call;
    give(out, read);
    return next;
  }

  // Everything else that is known of the line.
  void give(Line& line, const PreparedBlock::Line& read) {
    const Prefix& prefix = read.prefix;
    const bool indented = !line.message.empty() && is_blank(line.message.front());
    line.continues = indented || (prefix.pieces == 0 && x_had_prefix);
    if (line.call == nullptr) line.message = without_markup(line.message, x_scratch);
    line.origin = x_writers.of(prefix, read.writer);
    line.thread = prefix.thread;
    line.nccl = prefix.nccl;
    line.source_file = prefix.source_file;
    line.source_line = prefix.source_line;
    line.kernel = prefix.kernel;
    if (prefix.pieces != 0) x_had_prefix = true;
    x_on_line(line);
  }

  // The time of the line: that of its prefix, or as far behind the last one as the prefix says.
  model::LogTime note_time(const Prefix& prefix) {
    model::LogTime time = prefix.time;
    if (prefix.delta) {
      if (!x_time.known()) return {};
      time = {x_time.clock, x_time.ns + prefix.time.ns};
    }
    x_time = time;
    model::Log& log = x_facts.log();
    if (!log.first.known()) log.first = x_time;
    log.last = x_time;
    return time;
  }

  // Without threads: each block is prepared when it is there.
  void prepare_and_take(std::string& block) {
    x_block.text.swap(block);
    prepare(x_block, x_filter, all_lines);
    take(x_block);
  }

  Facts& x_facts;
  const KeywordFilter& x_filter;
  OnLine x_on_line;
  Writers x_writers;
  NodeNames x_nodes;
  LineBlocks x_blocks{[this](std::string& block) { prepare_and_take(block); }};
  PreparedBlock x_block;
  std::uint64_t x_newlines = 0;  // in the blocks before
  std::string x_wrapped;         // a record whose end is missing; empty: none
  std::uint64_t x_wrapped_number = 0;
  int x_wrapped_lines = 0;
  std::string x_scratch;
  std::string x_last_text;    // beginning of the last line with words, of the blocks before
  std::string_view x_worded;  // the same, of this block
  std::string_view x_timed;   // a line that was passed over and has a time, if it is the last one
  model::LogTime x_time;      // of the last line that had one
  bool x_had_prefix = false;
};

void LineStream::add_keywords(KeywordFilter& filter) {
  constexpr std::array<std::string_view, 6> kGluedTexts{"NCCL INFO", "NCCL WARN", "]:[E",
                                                        "]:[W",      "]:[I",      "]:[F"};
  constexpr std::array<std::string_view, 5> kWrappedTexts{
      "caught collective operation timeout", "detected by watchdog at work", "Timeout at NCCL work",
      "Got completion ", "collective operation timeout"};
  // NCCL's own lines are looked at more closely: whatever level may be glued to them.
  filter.add("NCCL ", kNcclWord);
  for (const std::string_view text : kGluedTexts) filter.add(text, kGluedRecord);
  for (const std::string_view text : kWrappedTexts) filter.add(text, kWrappedRecord);
}

LineStream::LineStream(Facts& facts, const KeywordFilter& filter, OnLine on_line)
    : x_state(std::make_unique<State>(facts, filter, std::move(on_line))) {}
LineStream::~LineStream() = default;

void LineStream::all_lines(bool wanted) {
  x_state->all_lines = wanted;
}

void LineStream::feed(std::string_view bytes) {
  x_state->feed(bytes);
}

void LineStream::take(const PreparedBlock& block) {
  x_state->take(block);
}

void LineStream::finish() {
  x_state->finish();
}

}  // namespace unhang::formats::log
