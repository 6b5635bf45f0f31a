// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulate/dump_writer.h"
#include "simulate/rank_list.h"

namespace unhang::simulate {
namespace {

constexpr std::array<std::string_view, 3> kStateText = {"scheduled", "started", "completed"};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

// The shortest text that reads back as the same number, always with a mark of being a real one.
std::string real(double value) {
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

template <class Items, class Write>
std::string array(const Items& items, Write&& write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + ']';
}

std::string shapes(const Shapes& all) {
  return array(all, [](const auto& shape) {
    return array(shape, [](std::int64_t extent) { return std::to_string(extent); });
  });
}

std::string strings(const std::vector<std::string>& texts) {
  return array(texts, [](const std::string& text) { return quoted(text); });
}

// What entries of the same call share is put into words once; the keys between are in alphabetical order.
struct CallText {
  std::string dtypes_and_sizes_in;
  std::string dtypes_and_sizes_out;
  std::string profiling_name;
};

CallText call_text(const RecordedCall& call) {
  CallText text;
  text.dtypes_and_sizes_in = fmt::format(R"("input_dtypes":{},"input_sizes":{},"is_p2p":{})",
                                         strings(call.input_dtypes), shapes(call.input_sizes), call.is_p2p);
  text.dtypes_and_sizes_out = fmt::format(R"("output_dtypes":{},"output_sizes":{})",
                                          strings(call.output_dtypes), shapes(call.output_sizes));
  text.profiling_name = quoted(call.profiling_name);
  return text;
}

void write_entry(std::string& out, const RecordedDump& dump, const RecordedEntry& entry,
                 const CallText& call) {
  const RecordedGroup& group = dump.groups.at(entry.group);
  auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"collective_seq_id":{},)", entry.collective_sequence);
  if (entry.duration_ms >= 0) fmt::format_to(to, R"("duration_ms":{},)", real(entry.duration_ms));
  fmt::format_to(
      to, R"({},"op_id":{},{},"p2p_seq_id":{},"pg_id":{},"process_group":[{},{}],"profiling_name":{},)",
      call.dtypes_and_sizes_in, entry.op_id, call.dtypes_and_sizes_out, entry.p2p_sequence, group.pg_id,
      quoted(group.name), quoted(group.description), call.profiling_name);
  fmt::format_to(to, R"("record_id":{},"retired":{},"state":"{}","thread_id":{},"thread_name":{},)",
                 entry.record_id, entry.retired, kStateText[static_cast<std::size_t>(entry.state)],
                 quoted(dump.thread_id), quoted(dump.thread_name));
  fmt::format_to(
      to,
      R"("time_created_ns":{},"time_discovered_completed_ns":{},"time_discovered_started_ns":{},"timeout_ms":{}}})",
      entry.created_ns, entry.completed_ns, entry.started_ns, entry.timeout_ms);
}

std::string write_entries(const RecordedDump& dump) {
  std::vector<CallText> calls;
  calls.reserve(dump.calls.size());
  for (const RecordedCall& call : dump.calls) calls.push_back(call_text(call));
  std::string out;
  out.reserve(dump.entries.size() * 600);
  for (const RecordedEntry& entry : dump.entries) {
    if (!out.empty()) out += ',';
    write_entry(out, dump, entry, calls.at(entry.call));
  }
  return out;
}

// Members of an object, sorted by key.
std::string object(std::vector<std::pair<std::string, std::string>> members) {
  std::sort(members.begin(), members.end());
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ',';
    out += quoted(key) + ':' + value;
  }
  return out + '}';
}

std::string config(const RecordedDump& dump) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const ConfiguredGroup& group : dump.config) {
    members.emplace_back(group.name,
                         fmt::format(R"({{"desc":{},"name":{},"ranks":{}}})", quoted(group.description),
                                     quoted(group.name), quoted(rank_list(group.ranks))));
  }
  return object(std::move(members));
}

std::string status(const RecordedDump& dump) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const RecordedStatus& group : dump.status) {
    members.emplace_back(
        std::to_string(group.pg_id),
        fmt::format(
            R"({{"last_completed_collective":"{}","last_enqueued_collective":"{}","last_started_collective":"{}"}})",
            group.last_completed, group.last_enqueued, group.last_started));
  }
  return object(std::move(members));
}

}  // namespace

std::string write_json(const RecordedDump& dump) {
  std::string out = fmt::format(R"({{"comm_lib_version":{},)", quoted(dump.comm_lib_version));
  if (!dump.entries.empty()) out += "\"entries\":[" + write_entries(dump) + "],";
  fmt::format_to(std::back_inserter(out),
                 R"("nccl_comm_state":{{}},"pg_config":{},"pg_status":{},"version":{}}})", config(dump),
                 status(dump), quoted(dump.version));
  return out;
}

}  // namespace unhang::simulate
