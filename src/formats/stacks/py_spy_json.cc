// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include <simdjson.h>

#include "formats/stacks/json_fields.h"
#include "formats/stacks/native_frame.h"
#include "formats/stacks/py_spy.h"
#include "formats/stacks/python_file.h"
#include "formats/stacks/sample_list.h"
#include "formats/stacks/stack_lines.h"

namespace unhang::formats::stacks {
namespace {

namespace dom = simdjson::dom;
using model::Severity;

model::StackFrame read_frame(const dom::object& object) {
  model::StackFrame frame;
  frame.function = text_at(object, "name");
  frame.file = text_at(object, "short_filename");
  if (frame.file.empty()) frame.file = text_at(object, "filename");
  if (frame.file.empty()) frame.file = text_at(object, "module");
  frame.line = std::max<std::int64_t>(number_at(object, "line", 0), 0);
  frame.python = is_python_file(frame.file);
  if (!frame.python) frame.function = native_name(frame.function);
  return frame;
}

class JsonReader {
 public:
  explicit JsonReader(Evidence& evidence) : x_list(evidence) {}

  // One list of threads: what one call of py-spy gives. Threads of several processes where it followed them.
  void read(const dom::array& threads) {
    x_process = std::nullopt;
    x_pid = -1;
    for (const dom::element item : threads) {
      dom::object object;
      if (!item.get_object().get(object)) read_thread(object);
    }
  }

 private:
  void read_thread(const dom::object& object) {
    const std::int64_t pid = std::max<std::int64_t>(number_at(object, "pid", -1), -1);
    if (!x_process || pid != x_pid) {
      x_process = x_list.begin_process(pid);
      x_pid = pid;
      dom::object info;
      if (x_process && !object["process_info"].get_object().get(info))
        x_list.process(*x_process).program = program_of(text_at(info, "command_line"));
    }
    model::ThreadSample thread;
    thread.source = model::StackSource::kPySpy;
    thread.thread = std::max<std::int64_t>(number_at(object, "os_thread_id", -1), -1);
    thread.name = text_at(object, "thread_name");
    thread.is_main = thread.name == "MainThread" || (thread.thread >= 0 && thread.thread == pid);
    thread.holds_interpreter = flag_at(object, "owns_gil") && flag_at(object, "active");
    const auto number = x_list.begin_thread(x_process, std::move(thread));
    each_object(object, "frames",
                [&](const dom::object& frame) { x_list.add_frame(x_process, number, read_frame(frame)); });
  }

  SampleList x_list;
  std::optional<std::size_t> x_process;
  std::int64_t x_pid = -1;
};

}  // namespace

bool sniff_py_spy_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '[') return false;
  constexpr std::size_t kNear = 512;
  const std::string_view begin = bytes.substr(first, kNear);
  return begin.find("\"thread_id\"") != std::string_view::npos &&
         begin.find("\"active\"") != std::string_view::npos;
}

void parse_py_spy_json(std::string_view bytes, Evidence& evidence) {
  if (bytes.size() > kMaxPySpyJson) {
    evidence.problems.push_back({Severity::kDataLoss,
                                 "too_large",
                                 "py-spy's JSON of more than 256 MiB is not read",
                                 {},
                                 bytes.size()});
    return;
  }
  JsonReader reader(evidence);
  dom::parser parser;
  const simdjson::padded_string padded(bytes);
  // People append the answers for several processes to one file.
  dom::document_stream documents;
  auto error = parser.parse_many(padded, std::max<std::size_t>(padded.size(), 1024)).get(documents);
  if (!error) {
    for (auto document : documents) {
      dom::array threads;
      error = document.get_array().get(threads);
      if (error) break;
      reader.read(threads);
    }
  }
  if (!error && documents.truncated_bytes() > 0) error = simdjson::TAPE_ERROR;
  if (error) {
    evidence.problems.push_back({Severity::kDataLoss,
                                 "damaged",
                                 std::string("py-spy's JSON is damaged or cut off (") +
                                     simdjson::error_message(error) + "); what stands before it was read",
                                 {},
                                 0});
  }
}

}  // namespace unhang::formats::stacks
