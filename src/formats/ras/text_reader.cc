// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/text_reader.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/printable.h"
#include "formats/ras/text_conclusions.h"

namespace unhang::formats::ras {

using model::RasRow;
using model::Severity;

namespace {

constexpr std::size_t kMaxWord = 64;

// "NCCL version 2.30.7 compiled with CUDA 12.8"; ports say RCCL.
bool is_version_line(std::string_view text) {
  return text.starts_with("NCCL version ") || text.starts_with("RCCL version ");
}

std::string short_text(std::string_view text) {
  return base::printable(text.substr(0, 80));
}

}  // namespace

void TextReader::line(Line line) {
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  if (is_version_line(line.text)) {
    finish();
    begin(line);
    return;
  }
  if (underline(line.text) || second_report(line)) return;
  if (!line.ended && !line.text.empty()) return cut_line(line);
  if (line.text.empty() || heading(line)) return;
  bool known = false;
  switch (x_section) {
    case Section::kOutside:
      break;
    case Section::kHead:
      known = head_line(LineWords(line.text));
      break;
    case Section::kSummary:
      known = summary_line(line.text);
      break;
    case Section::kTable:
      known = table_line(line);
      break;
    case Section::kErrors:
    case Section::kWarnings:
      known = x_blocks.line(line);
      break;
  }
  if (!known) protocol_or_unknown(line);
}

void TextReader::begin(const Line& line) {
  x_draft = TextDraft();
  x_draft.answer.line = line.number;
  x_draft.answer.offset = line.offset;
  LineWords words(line.text);
  if (!line.ended) {
    x_draft.cut = true;  // the number may be half of one
  } else if (is_version_line(line.text)) {
    words.take(line.text.substr(0, line.text.find("version ") + 8));
    x_draft.answer.nccl_version = words.word().substr(0, kMaxWord);
  }
  x_blocks.begin_answer();
  x_section = Section::kHead;
  x_totals = Totals::kNone;
  x_warnings_heading = false;
}

// Its end is missing, so a number or an address in it may be half of one.
void TextReader::cut_line(const Line& line) {
  if (x_section == Section::kOutside) return protocol_or_unknown(line);
  x_draft.cut = true;
}

bool TextReader::underline(std::string_view text) {
  if (text.size() < 3 || text.find_first_not_of('=') != std::string_view::npos) return false;
  if (x_warnings_heading && text.size() == std::string_view("Warnings").size()) {
    x_draft.answer.complete = true;
    x_warnings_heading = false;
  }
  return true;
}

bool TextReader::heading(const Line& line) {
  if (line.text == "Job summary") {
    // Ports begin otherwise; and the beginning may not have been saved.
    if (x_section == Section::kOutside || x_section == Section::kWarnings) {
      finish();
      begin(line);
    }
    enter(Section::kSummary, line);
  } else if (line.text.starts_with("Communicators...")) {
    return communicators_line(line);
  } else if (line.text == "Errors" && x_section != Section::kOutside) {
    enter(Section::kErrors, line);
  } else if (line.text == "Warnings" && x_section != Section::kOutside) {
    enter(Section::kWarnings, line);
    x_warnings_heading = true;
  } else {
    return false;
  }
  return true;
}

void TextReader::enter(Section section, const Line& line) {
  if (section <= x_section && !x_draft.mixed) {
    x_draft.mixed = true;
    x_reading.problem(Severity::kError, "interleaved",
                      "two reports run through each other: ask once for each connection; its numbers are not "
                      "used",
                      line.number, line.offset);
  }
  x_section = section;
  x_warnings_heading = false;
  x_blocks.begin_section();
}

// A report that begins in the middle of a line. Mostly the one before was cut off there. But where the data
// should have come, two requests may have been sent on one connection, and whose data follows is not known.
bool TextReader::second_report(const Line& line) {
  if (x_section == Section::kOutside) return false;
  const std::size_t at = line.text.find("NCCL version ");
  if (at == std::string_view::npos || line.text.find(" compiled with ", at) == std::string_view::npos) {
    return false;
  }
  const bool waiting = line.text.substr(0, at) == "Communicators...";
  if (!waiting) {
    x_draft.cut = true;
    finish();
  }
  Line second = line;
  second.offset += at;
  second.text.remove_prefix(at);
  begin(second);
  if (waiting) {
    x_draft.answer.corrupt = true;
    x_reading.problem(Severity::kError, "interleaved",
                      "two reports run through each other: ask once for each connection", line.number,
                      line.offset);
  }
  return true;
}

// "Communicators... (0.001s)"
bool TextReader::communicators_line(const Line& line) {
  LineWords words(line.text);
  words.take("Communicators...");
  if (x_section == Section::kOutside) begin(line);
  enter(Section::kTable, line);
  double seconds = 0;
  words.skip_blanks();
  if (!words.take("(")) return true;
  const std::string_view rest = words.rest();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  if (error == std::errc() && end < rest.data() + rest.size() && *end == 's') {
    x_draft.answer.collection_seconds = seconds;
  }
  return true;
}

// "CUDA runtime version 12080, driver version 12080"; ports have other words.
bool TextReader::head_line(LineWords words) {
  if (!words.take("CUDA runtime version ")) return false;
  const std::string_view runtime = words.rest().substr(0, words.rest().find(','));
  words.take(runtime);
  x_draft.answer.cuda_runtime = runtime.substr(0, kMaxWord);
  if (words.take(", driver version ")) x_draft.answer.cuda_driver = words.rest().substr(0, kMaxWord);
  return true;
}

// The totals are in one row of five numbers, or in one of three behind the distribution over the nodes.
bool TextReader::summary_line(std::string_view text) {
  if (text.find("(total)") != std::string_view::npos) {
    x_totals = text.find("per") == std::string_view::npos ? Totals::kUneven : Totals::kUniform;
    return true;
  }
  if (text.starts_with("The outlier node") || text.starts_with("  Node ")) return true;
  if (text.find("Nodes") != std::string_view::npos || text.find("Processes") != std::string_view::npos ||
      text.find("per node") != std::string_view::npos || text.find("per process") != std::string_view::npos) {
    x_totals = Totals::kNone;
    return true;
  }
  LineWords words(text);
  std::array<std::int64_t, 5> numbers{};
  std::size_t count = 0;
  for (words.skip_blanks(); !words.at_end() && count < numbers.size(); words.skip_blanks()) {
    const auto number = words.integer();
    if (!number) return false;
    numbers[count++] = *number;
  }
  if (count == 0 || !words.at_end()) return false;
  auto& answer = x_draft.answer;
  if (x_totals == Totals::kUniform && count == 5) {
    answer.nodes = numbers[0];
    answer.processes = numbers[3];
    answer.gpus = numbers[4];
  } else if (x_totals == Totals::kUneven && count == 3) {
    answer.nodes = numbers[0];
    answer.processes = numbers[1];
    answer.gpus = numbers[2];
  }
  return true;
}

bool TextReader::table_line(const Line& line) {
  if (line.text.starts_with("Group ") || line.text.starts_with("    #  in group") ||
      line.text == "No communicator data collected!") {
    return true;
  }
  LineWords words(line.text);
  RasRow row;
  const auto number = [&words](std::int64_t& out) {
    words.skip_blanks();
    const auto value = words.integer();
    if (value) out = *value;
    return value.has_value();
  };
  std::int64_t group = -1;
  if (!number(group) || group < 0 || group > INT32_MAX || !number(row.communicators) || !number(row.nodes) ||
      !number(row.ranks_per_node_least)) {
    return false;
  }
  row.group = static_cast<std::int32_t>(group);
  row.ranks_per_node_most = row.ranks_per_node_least;
  if (words.take("-") && !number(row.ranks_per_node_most)) return false;
  if (!number(row.size) || !number(row.ranks)) return false;
  words.skip_blanks();
  const auto status = status_of(words.word());
  row.status = status.value_or(model::RasStatus::kUnknown);
  words.skip_blanks();
  const bool errors_known = read_error_words(words.word(), row.incomplete, row.error, row.mismatch);
  words.skip_blanks();
  row.line = line.number;
  if (x_reading.take_record(line.number)) x_draft.answer.rows.push_back(row);
  return status && errors_known && words.at_end();
}

void TextReader::protocol_or_unknown(const Line& line) {
  if (line.text.starts_with("ERROR: ") || line.text.starts_with("BUSY: ")) {
    x_reading.problem(Severity::kError, "refused", "the service refused a request: " + short_text(line.text),
                      line.number, line.offset);
    return;
  }
  if (line.text == "OK" || line.text.starts_with("SERVER PROTOCOL ")) return;
  if (x_section >= Section::kTable) x_draft.strange = true;
  if (line.text.find_first_not_of(" \t") == std::string_view::npos) return;
  x_reading.problem(Severity::kInfo, "unknown_lines",
                    "a line that unhang does not know was read over: " + short_text(line.text), line.number,
                    line.offset);
}

void TextReader::finish_before_json() {
  if (x_section == Section::kHead) {
    x_section = Section::kOutside;  // the banner of a port
    return;
  }
  finish();
}

void TextReader::finish() {
  if (x_section == Section::kOutside) return;
  x_section = Section::kOutside;
  conclude(x_draft, x_reading);
  x_reading.evidence().ras_answers.push_back(std::move(x_draft.answer));
  x_draft = TextDraft();
}

}  // namespace unhang::formats::ras
