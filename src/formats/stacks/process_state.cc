// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/process_state.h"

#include <algorithm>

#include <simdjson.h>

#include "base/printable.h"
#include "formats/stacks/json_fields.h"
#include "formats/stated_schema.h"

namespace unhang::formats::stacks {
namespace {

namespace dom = simdjson::dom;
using model::Severity;

constexpr std::string_view kSchema = "unhang.process_state/1";
constexpr std::string_view kSchemaStem = "unhang.process_state/";
constexpr std::size_t kMaxKernelFrames = 128;
constexpr std::size_t kMaxNotReadable = 64;

void write_text(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : base::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void write_text_or_null(std::string_view text, std::string& out) {
  if (text.empty()) {
    out += "null";
  } else {
    write_text(text, out);
  }
}

void write_number(std::int64_t value, std::string& out) {
  out += value < 0 ? "null" : std::to_string(value);
}

void write_state(char state, std::string& out) {
  write_text_or_null(state == '\0' ? std::string_view() : std::string_view(&state, 1), out);
}

void write_list(const std::vector<std::string>& list, std::string& out) {
  out += '[';
  for (const std::string& text : list) {
    if (&text != &list.front()) out += ", ";
    write_text(text, out);
  }
  out += ']';
}

void write_thread(const model::ThreadSample& thread, std::string& out) {
  out += R"(    {"tid": )";
  write_number(thread.thread, out);
  out += R"(, "name": )";
  write_text_or_null(thread.name, out);
  out += R"(, "state": )";
  write_state(thread.state, out);
  out += R"(, "wait_channel": )";
  write_text_or_null(thread.wait_channel, out);
  out += R"(, "system_call": )";
  write_text_or_null(thread.system_call, out);
  out += R"(, "kernel_stack": )";
  write_list(thread.kernel_frames, out);
  out += '}';
}

void write_process(const model::ProcessSample& process, std::string& out) {
  out += R"(  {"pid": )";
  write_number(process.pid, out);
  if (process.namespace_pid >= 0) {
    out += R"(, "namespace_pid": )";
    write_number(process.namespace_pid, out);
  }
  out += R"(, "parent": )";
  write_number(process.parent, out);
  out += R"(, "program": )";
  write_text_or_null(process.program, out);
  out += R"(, "state": )";
  write_state(process.state, out);
  out += ",\n   \"threads\": [";
  for (const model::ThreadSample& thread : process.threads) {
    out += &thread == &process.threads.front() ? "\n" : ",\n";
    write_thread(thread, out);
  }
  out += "],\n   \"not_readable\": ";
  write_list(process.not_readable, out);
  out += '}';
}

std::vector<std::string> texts_at(const dom::object& object, std::string_view key, std::size_t most) {
  std::vector<std::string> out;
  each_element(object, key, [&](const dom::element& item) {
    std::string_view text;
    if (out.size() < most && !item.get_string().get(text)) out.emplace_back(text.substr(0, kMaxText));
  });
  return out;
}

char state_at(const dom::object& object) {
  const std::string state = text_at(object, "state");
  return state.size() == 1 && state[0] >= 'A' && state[0] <= 'z' ? state[0] : '\0';
}

class StateReader {
 public:
  explicit StateReader(Evidence& evidence) : x_evidence(evidence) {}

  void read(const dom::object& root) {
    const std::string host = text_at(root, "host");
    const std::int64_t taken = number_at(root, "taken_ns", -1);
    each_object(root, "processes", [&](const dom::object& object) {
      if (x_threads >= kMaxStateThreads) {
        ++x_left_out;
        return;
      }
      model::ProcessSample process = read_process(object);
      process.host = host;
      if (taken > 0) process.taken_ns = taken;
      x_evidence.process_samples.push_back(std::move(process));
    });
    if (x_left_out > 0) {
      x_evidence.problems.push_back(
          {Severity::kDataLoss,
           "too_many",
           std::to_string(x_left_out) + " processes or threads beyond the first million were left out",
           {},
           0});
    }
  }

 private:
  model::ProcessSample read_process(const dom::object& object) {
    model::ProcessSample process;
    process.pid = std::max<std::int64_t>(number_at(object, "pid", -1), -1);
    process.namespace_pid = std::max<std::int64_t>(number_at(object, "namespace_pid", -1), -1);
    process.parent = std::max<std::int64_t>(number_at(object, "parent", -1), -1);
    process.program = text_at(object, "program");
    process.state = state_at(object);
    process.not_readable = texts_at(object, "not_readable", kMaxNotReadable);
    ++x_threads;  // a process costs as much as a thread: a list of empty ones has the same bound
    each_object(object, "threads", [&](const dom::object& entry) {
      if (x_threads >= kMaxStateThreads) {
        ++x_left_out;
        return;
      }
      ++x_threads;
      model::ThreadSample thread;
      thread.thread = std::max<std::int64_t>(number_at(entry, "tid", -1), -1);
      thread.name = text_at(entry, "name");
      thread.state = state_at(entry);
      thread.wait_channel = text_at(entry, "wait_channel");
      thread.system_call = text_at(entry, "system_call");
      thread.kernel_frames = texts_at(entry, "kernel_stack", kMaxKernelFrames);
      thread.is_main = thread.thread >= 0 && thread.thread == process.pid;
      thread.source = model::StackSource::kProc;
      process.threads.push_back(std::move(thread));
    });
    return process;
  }

  Evidence& x_evidence;
  std::size_t x_threads = 0;
  std::size_t x_left_out = 0;
};

}  // namespace

std::string process_state_json(const std::vector<model::ProcessSample>& processes, std::string_view host,
                               std::optional<std::int64_t> taken_ns) {
  std::string out = "{\"schema\": \"" + std::string(kSchema) + "\", \"host\": ";
  write_text_or_null(host, out);
  out += ", \"taken_ns\": ";
  out += taken_ns ? std::to_string(*taken_ns) : "null";
  out += ",\n \"processes\": [";
  for (const model::ProcessSample& process : processes) {
    out += &process == &processes.front() ? "\n" : ",\n";
    write_process(process, out);
  }
  out += "]}\n";
  return out;
}

bool sniff_process_state(std::string_view bytes) {
  return states_schema(bytes, kSchemaStem);
}

void parse_process_state(std::string_view bytes, Evidence& evidence) {
  if (bytes.size() > kMaxStateDocument) {
    evidence.problems.push_back({Severity::kDataLoss,
                                 "too_large",
                                 "a list of processes of more than 256 MiB is not read",
                                 {},
                                 bytes.size()});
    return;
  }
  dom::parser parser;
  const simdjson::padded_string padded(bytes);
  dom::object root;
  if (const auto error = parser.parse(padded).get_object().get(root)) {
    evidence.problems.push_back({Severity::kDataLoss,
                                 "damaged",
                                 std::string("the list of processes is damaged or cut off (") +
                                     simdjson::error_message(error) + "); take it again",
                                 {},
                                 bytes.size()});
    return;
  }
  const std::string schema = text_at(root, "schema");
  if (!schema.starts_with(kSchemaStem)) {
    evidence.problems.push_back(
        {Severity::kInfo, "foreign_json", "JSON, but not a list of processes; ignored", {}, 0});
    return;
  }
  if (schema != kSchema) {
    evidence.problems.push_back({Severity::kInfo,
                                 "newer_schema",
                                 "a list of processes of a later form (" + schema.substr(0, 40) +
                                     "): what this release does not know of it is passed over",
                                 {},
                                 0});
  }
  StateReader(evidence).read(root);
}

}  // namespace unhang::formats::stacks
