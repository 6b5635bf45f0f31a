// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/stream.h"

#include <algorithm>

#include "formats/ras/event_line.h"
#include "formats/ras/json_object.h"
#include "formats/ras/object_span.h"
#include "formats/ras/ras.h"
#include "formats/ras/reading.h"
#include "formats/ras/text_reader.h"

namespace unhang::formats::ras {
namespace {

constexpr std::string_view kBlanks = " \t\r";

class Stream {
 public:
  Stream(std::string_view bytes, Evidence& evidence)
      : x_bytes(bytes), x_reading(evidence), x_text(x_reading), x_objects(x_reading) {}

  void read() {
    if (x_bytes.starts_with("\xEF\xBB\xBF")) x_at = 3;
    while (x_at < x_bytes.size()) {
      const std::size_t first = std::min(x_bytes.find_first_not_of(kBlanks, x_at), x_bytes.size());
      if (first < x_bytes.size() && x_bytes[first] == '{') {
        read_object(first);
      } else {
        read_line();
      }
    }
    x_text.finish();
    const Evidence& evidence = x_reading.evidence();
    if (evidence.ras_answers.empty() && evidence.ras_events.empty() && !x_reading.has_problems()) {
      x_reading.problem(model::Severity::kInfo, "no_answer",
                        "only lines of the protocol: no answer came, or no event happened", 0, 0);
    }
    x_reading.finish();
  }

 private:
  void read_object(std::size_t first) {
    x_text.finish_before_json();
    const ObjectSpan object = object_at(x_bytes.substr(first));
    x_objects.read(object, x_line, first);
    x_at = first + object.text.size();
    x_line += object.lines;
    // What is left of the line of its closing bracket is mostly nothing.
    const std::size_t next = std::min(x_bytes.find_first_not_of(kBlanks, x_at), x_bytes.size());
    if (next < x_bytes.size() && x_bytes[next] == '\n') {
      x_at = next + 1;
      ++x_line;
    } else {
      x_at = next;
    }
  }

  void read_line() {
    const std::size_t end = std::min(x_bytes.find('\n', x_at), x_bytes.size());
    Line line{x_bytes.substr(x_at, end - x_at), x_line, x_at, end < x_bytes.size()};
    x_at = std::min(end + 1, x_bytes.size());
    ++x_line;
    if (line.text.starts_with('[') && read_event(line)) return;
    x_text.line(line);
  }

  bool read_event(const Line& line) {
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    auto event = read_event_line(text);
    if (!event) return false;
    x_text.finish();
    if (!line.ended) {
      x_reading.problem(model::Severity::kDataLoss, "truncated",
                        "the last event ends in the middle of its line and is left out", line.number,
                        line.offset);
      return true;
    }
    event->line = line.number;
    if (x_reading.take_record(line.number)) x_reading.evidence().ras_events.push_back(std::move(*event));
    return true;
  }

  std::string_view x_bytes;
  Reading x_reading;
  TextReader x_text;
  JsonObjects x_objects;
  std::size_t x_at = 0;
  std::uint64_t x_line = 1;
};

}  // namespace

void read_stream(std::string_view bytes, Evidence& evidence) {
  Stream(bytes, evidence).read();
}

}  // namespace unhang::formats::ras
