// SPDX-License-Identifier: Apache-2.0
//
// The text form of RAS answers, line by line: which section a line is in, the version lines, the job summary
// and the table of communicators. An answer is whole when its last section, "Warnings", has begun.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/ras/text_blocks.h"
#include "formats/ras/text_draft.h"

namespace unhang::formats::ras {

class TextReader {
 public:
  explicit TextReader(Reading& reading) : x_reading(reading), x_blocks(reading, x_draft) {}

  // The next line; it may begin an answer, be part of the one that is open, or be foreign.
  void line(Line line);
  // Nothing more belongs to the open answer: the file ends, or something else begins.
  void finish();
  // A JSON object begins: the open answer was its banner when it has no more than version lines.
  void finish_before_json();

 private:
  enum class Section : std::uint8_t { kOutside, kHead, kSummary, kTable, kErrors, kWarnings };
  enum class Totals : std::uint8_t { kNone, kUniform, kUneven };

  void begin(const Line& line);
  bool second_report(const Line& line);
  void cut_line(const Line& line);
  bool heading(const Line& line);
  void enter(Section section, const Line& line);
  bool underline(std::string_view text);
  bool head_line(LineWords words);
  bool summary_line(std::string_view text);
  bool table_line(const Line& line);
  bool communicators_line(const Line& line);
  void protocol_or_unknown(const Line& line);

  Reading& x_reading;
  TextDraft x_draft;
  TextBlocks x_blocks;
  Section x_section = Section::kOutside;
  Totals x_totals = Totals::kNone;
  bool x_warnings_heading = false;  // seen, its underline not yet
};

}  // namespace unhang::formats::ras
