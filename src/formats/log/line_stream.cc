// SPDX-License-Identifier: Apache-2.0
#include "formats/log/line_stream.h"

#include <array>
#include <string>
#include <utility>

#include "formats/log/glued_records.h"
#include "formats/log/physical_lines.h"
#include "formats/log/prefix.h"
#include "formats/log/wrapped_record.h"
#include "formats/log/writers.h"

namespace unhang::formats::log {
namespace {

// Owners of the filter that are this file's: a record may be glued in the middle, or wrapped.
constexpr unsigned kGluedOwner = 31, kWrappedOwner = 30;
constexpr std::uint32_t kGlued = 1u << kGluedOwner, kWrapped = 1u << kWrappedOwner;
constexpr int kGluedRecords = 64;  // of one line; what follows stays with the last
constexpr std::size_t kLastBytes = 1024;
constexpr std::uint32_t kOwn = kGlued | kWrapped;

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
  if (text.find("**") == std::string_view::npos) return text;
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
      : x_facts(facts),
        x_filter(filter),
        x_on_line(std::move(on_line)),
        x_writers(facts),
        x_lines([this](std::string_view line, std::uint64_t number) { physical(line, number); }) {}

  void feed(std::string_view bytes) { x_lines.feed(bytes); }

  void finish() {
    x_lines.finish();
    end_wrapped();
    model::Log& log = x_facts.log();
    log.lines = x_lines.lines();
    log.forgotten += x_lines.cut_lines();
    const Prefix prefix = read_prefix(x_last_text, x_nodes);
    log.last_origin = x_writers.of(prefix);
    log.last_text = shown(std::string_view(x_last_text).substr(prefix.length));
  }

  bool all_lines = false;

 private:
  void physical(std::string_view line, std::uint64_t number) {
    if (!x_wrapped.empty() && wrapped(line)) return;
    logical(line, number, true);
  }

  // Whether `line` was taken as the rest of a wrapped record.
  bool wrapped(std::string_view line) {
    const Prefix prefix = read_prefix(line, x_nodes);
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
    const std::string record = std::exchange(x_wrapped, {});
    logical(record, x_wrapped_number, false);
  }

  // Hands out the first record of `line`; where the next begins, 0 when there is no other.
  std::size_t record(std::string_view line, std::uint64_t number, bool may_wrap, bool may_split) {
    Prefix prefix = read_prefix(line, x_nodes);
    std::string_view message = line.substr(prefix.length);
    if (prefix.time.known()) note_time(prefix);
    // NCCL prints an empty line before a warning, to which launchers add a prefix: such lines are no last
    // words.
    if (!message.empty() && !is_blank(message.front())) x_last_text.assign(line.substr(0, kLastBytes));
    std::uint32_t owners = 0;
    if (prefix.nccl != NcclLevel::kNone) {
      ++x_facts.log().nccl_lines;
      owners = kNcclOwner;
      if (message.find("NCCL ") != std::string_view::npos) owners |= kGlued;
    } else {
      owners = x_filter.owners(message);
    }
    if (prefix.nccl == NcclLevel::kWarn) owners |= kWrapped;
    std::size_t next = 0;
    if (may_split && (owners & kGlued) != 0) {
      next = next_record(line, prefix.length + 1, prefix.host);
      if (next == std::string_view::npos) next = 0;
    }
    if (next != 0) {
      line = line.substr(0, next);
      message = line.substr(prefix.length);
      if (prefix.nccl == NcclLevel::kNone) owners = x_filter.owners(message);
    } else if (may_wrap && (owners & kWrapped) != 0 && is_unfinished(message)) {
      x_wrapped.assign(line);
      x_wrapped_number = number;
      x_wrapped_lines = 1;
      return 0;
    }
    owners &= ~kOwn;
    if (owners == 0 && !all_lines) {
      x_had_prefix = prefix.pieces != 0;
      return next;
    }
    give(line, message, prefix, number, owners);
    return next;
  }

  // A line as it was read: one record, or several that were glued.
  void logical(std::string_view line, std::uint64_t number, bool may_wrap) {
    for (int records = 1;; ++records) {
      const std::size_t next = record(line, number, may_wrap, records < kGluedRecords);
      if (next == 0) return;
      line.remove_prefix(next);
    }
  }

  void give(std::string_view whole, std::string_view message, const Prefix& prefix, std::uint64_t number,
            std::uint32_t owners) {
    Line line;
    line.number = number;
    line.whole = whole;
    line.message = without_markup(message, x_scratch);
    line.time = prefix.time;
    line.origin = x_writers.of(prefix);
    line.thread = prefix.thread;
    line.nccl = prefix.nccl;
    line.source_file = prefix.source_file;
    line.source_line = prefix.source_line;
    line.continues = (!message.empty() && is_blank(message.front())) || (prefix.pieces == 0 && x_had_prefix);
    line.kernel = prefix.kernel;
    if (prefix.pieces != 0) x_had_prefix = true;
    x_on_line(line, owners);
  }

  void note_time(Prefix& prefix) {
    if (prefix.delta) {
      if (x_time.known()) {
        prefix.time = {x_time.clock, x_time.ns + prefix.time.ns};
      } else {
        prefix.time = {};
        return;
      }
    }
    x_time = prefix.time;
    model::Log& log = x_facts.log();
    if (!log.first.known()) log.first = x_time;
    log.last = x_time;
  }

  Facts& x_facts;
  const KeywordFilter& x_filter;
  OnLine x_on_line;
  Writers x_writers;
  NodeNames x_nodes;
  PhysicalLines x_lines;
  std::string x_wrapped;  // a record whose end is missing; empty: none
  std::uint64_t x_wrapped_number = 0;
  int x_wrapped_lines = 0;
  std::string x_scratch;
  std::string x_last_text;
  model::LogTime x_time;  // of the last line that had one
  bool x_had_prefix = false;
};

void LineStream::add_keywords(KeywordFilter& filter) {
  constexpr std::array<std::string_view, 6> kGluedTexts{"NCCL INFO", "NCCL WARN", "]:[E",
                                                        "]:[W",      "]:[I",      "]:[F"};
  constexpr std::array<std::string_view, 5> kWrappedTexts{
      "caught collective operation timeout", "detected by watchdog at work", "Timeout at NCCL work",
      "Got completion ", "collective operation timeout"};
  for (const std::string_view text : kGluedTexts) filter.add(text, kGluedOwner);
  for (const std::string_view text : kWrappedTexts) filter.add(text, kWrappedOwner);
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

void LineStream::finish() {
  x_state->finish();
}

}  // namespace unhang::formats::log
