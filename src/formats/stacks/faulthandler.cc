// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/faulthandler.h"

#include <algorithm>
#include <charconv>

#include "formats/stacks/python_trace_line.h"
#include "formats/stacks/stack_lines.h"

namespace unhang::formats::stacks {
namespace {

constexpr std::string_view kHeaderEnd = "(most recent call first):";
constexpr std::size_t kMaxWriters = 65'536;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number behind the last of such a word in what stands in front of a line.
std::optional<std::int64_t> number_behind(std::string_view prefix, std::string_view word) {
  const std::size_t at = prefix.rfind(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view digits = prefix.substr(at + word.size());
  if (digits.empty() || !is_digit(digits.front())) return std::nullopt;
  return take_number(digits);
}

// What begins a line of faulthandler, and where.
enum class Part : std::uint8_t { kNone, kDump, kThread, kFrame, kOther };
struct Found {
  Part part = Part::kNone;
  std::size_t at = 0;
};

Found look_at(std::string_view text) {
  if (text.ends_with(kHeaderEnd)) {
    for (const std::string_view word : {"Current thread 0x", "Thread 0x", "Stack (most"}) {
      if (const std::size_t at = text.find(word); at != std::string_view::npos) return {Part::kThread, at};
    }
    return {Part::kOther, 0};  // the C stack of a thread
  }
  if (const std::size_t at = text.find("  File "); at != std::string_view::npos) return {Part::kFrame, at};
  for (const std::string_view word : {"Fatal Python error: ", "Timeout ("}) {
    const std::size_t at = text.find(word);
    if (at != std::string_view::npos && (word.front() == 'F' || text.ends_with(")!")))
      return {Part::kDump, at};
  }
  return {};
}

void name_main_thread(model::ProcessSample& process) {
  auto& threads = process.threads;
  auto main = std::find_if(threads.begin(), threads.end(), [](const model::ThreadSample& thread) {
    return !thread.frames.empty() && thread.frames.back().function == "<module>";
  });
  // The interpreter lists its newest thread first.
  if (main == threads.end() && !threads.empty()) main = threads.end() - 1;
  if (main != threads.end()) main->is_main = true;
}

}  // namespace

bool FaulthandlerReader::line(std::string_view text) {
  const Found found = look_at(text);
  if (found.part == Part::kNone) return false;
  const std::string_view prefix = text.substr(0, found.at);
  Writer writer{-1, number_behind(prefix, "pid=").value_or(-1)};
  for (const std::string_view word : {"[rank", "RANK=", "[RANK ", "rank="}) {
    const auto rank = number_behind(prefix, word);
    if (rank && *rank < 1 << 22) writer.first = static_cast<std::int32_t>(*rank);
  }
  const std::string_view rest = text.substr(found.at);
  if (found.part == Part::kThread) {
    begin_thread(writer, rest);
    return true;
  }
  const auto place = x_places.find(writer);
  if (place == x_places.end()) return found.part == Part::kDump;
  if (found.part == Part::kDump) {
    place->second = {};
  } else if (found.part == Part::kOther) {
    place->second.thread = std::nullopt;
  } else if (place->second.thread) {
    auto frame = read_python_trace_line(rest);
    if (!frame) return false;
    x_list.add_frame(place->second.process, place->second.thread, std::move(*frame));
  } else {
    return false;
  }
  return true;
}

// "Current thread 0x00007fa3 [name] (most recent call first):"
void FaulthandlerReader::begin_thread(const Writer& writer, std::string_view header) {
  if (x_places.size() >= kMaxWriters && x_places.count(writer) == 0) return;
  Place& place = x_places[writer];
  std::string id;
  model::ThreadSample thread;
  thread.source = model::StackSource::kFaulthandler;
  if (const std::size_t hex = header.find("0x"); hex != std::string_view::npos) {
    const std::string_view rest = header.substr(hex);
    id = rest.substr(0, rest.find(' '));
    const std::size_t open = rest.find(" [");
    const std::size_t close = rest.rfind("] (");
    if (open != std::string_view::npos && close != std::string_view::npos && close > open)
      thread.name = rest.substr(open + 2, close - open - 2);
  }
  // The same thread a second time: a later dump of the same process.
  if (!place.process || place.seen.count(id) != 0) {
    place = {};
    place.process = x_list.begin_process(writer.second);
    if (place.process) x_list.process(*place.process).rank = writer.first;
  }
  place.seen[id] = true;
  place.thread = x_list.begin_thread(place.process, std::move(thread));
}

void FaulthandlerReader::finish() {
  for (std::size_t i = 0; i < x_list.processes(); ++i) name_main_thread(x_list.process(i));
}

bool sniff_faulthandler(std::string_view bytes) {
  // The first line that says anything is one of its own; among the lines of a log its dumps are read by the
  // log's reader.
  StackLines lines(bytes);
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t") == std::string_view::npos) continue;
    const Found found = look_at(*line);
    return (found.part == Part::kDump || found.part == Part::kThread) &&
           bytes.find(kHeaderEnd) != std::string_view::npos;
  }
  return false;
}

void parse_faulthandler(std::string_view bytes, Evidence& evidence) {
  FaulthandlerReader reader(evidence);
  StackLines lines(bytes);
  while (const auto line = lines.next()) reader.line(*line);
  reader.finish();
}

}  // namespace unhang::formats::stacks
