// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "report/json_stream.h"
#include "report/stack_tree.h"

namespace unhang::report {
namespace {

void add_name(const model::Activity activity, JsonStream& out) {
  if (activity == model::Activity::kUnknown) {
    out.raw("null");
  } else {
    out.text(model::name_of(activity));
  }
}

void add_member(const StackLook& look, JsonStream& out) {
  out.raw("{\"rank\": ")
      .number_or_null(look.rank < 0 ? std::nullopt : std::optional<std::int64_t>(look.rank));
  out.raw(", \"host\": ").text_or_null(look.host);
  out.raw(", \"pid\": ").number_or_null(look.pid < 0 ? std::nullopt : std::optional<std::int64_t>(look.pid));
  out.raw(", \"thread\": ").text_or_null(look.thread).raw(", \"main\": ").boolean(look.is_main);
  out.raw(", \"state\": ")
      .text_or_null(look.state == '\0' ? std::string_view() : std::string_view(&look.state, 1));
  out.raw(", \"source\": ").text(model::name_of(look.source)).raw("}");
}

void add_frame(const model::StackFrame& frame, JsonStream& out) {
  const bool kernel = frame.file == kKernelFile;
  out.raw("{\"function\": ").text_or_null(frame.function);
  out.raw(", \"file\": ").text_or_null(kernel ? std::string_view() : frame.file);
  out.raw(", \"line\": ").number_or_null(frame.line > 0 ? std::optional(frame.line) : std::nullopt);
  out.raw(", \"language\": ").raw(kernel ? "\"kernel\"" : frame.python ? "\"python\"" : "\"native\"");
  out.raw(", \"meaning\": ");
  add_name(kernel ? model::activity_of_kernel(frame.function) : model::activity_of(frame), out);
  out.raw("}");
}

struct Same {
  const StackLook* first = nullptr;
  std::vector<const StackLook*> members;
};

// Looks with equal paths and activities, in the order of their first member.
std::vector<Same> equal_looks(const StackLooks& looks) {
  std::vector<Same> out;
  std::map<std::string, std::size_t> places;
  for (const StackLook& look : looks.looks) {
    std::string key = model::words_of(look.activity);
    for (const model::StackFrame& frame : look.path)
      key += '\n' + frame.function + '\t' + frame.file + '\t' + std::to_string(frame.line);
    const auto [place, is_new] = places.emplace(std::move(key), out.size());
    if (is_new) out.push_back({&look, {}});
    out[place->second].members.push_back(&look);
  }
  return out;
}

}  // namespace

std::string stacks_json(const StackLooks& looks) {
  std::string bytes;
  JsonStream out([&](std::string_view piece) { bytes += piece; });
  out.raw("{\n\"schema\": \"unhang.stacks/1\",\n\"tool\": {\"name\": \"unhang\", \"version\": ");
  out.text(UNHANG_VERSION).raw("},\n\"stacks\": [");
  bool first = true;
  for (const Same& same : equal_looks(looks)) {
    out.raw(first ? "\n" : ",\n").raw("  {\"activity\": ");
    first = false;
    add_name(same.first->activity.what, out);
    out.raw(", \"waits\": ");
    add_name(same.first->activity.how, out);
    out.raw(", \"words\": ").text(model::words_of(same.first->activity)).raw(",\n   \"members\": [");
    for (std::size_t i = 0; i < same.members.size(); ++i) {
      if (i > 0) out.raw(", ");
      add_member(*same.members[i], out);
    }
    out.raw("],\n   \"frames\": [");
    for (std::size_t i = 0; i < same.first->path.size(); ++i) {
      out.raw(i > 0 ? ",\n    " : "\n    ");
      add_frame(same.first->path[i], out);
    }
    out.raw("]}");
  }
  out.raw("\n],\n\"unseen_ranks\": [");
  for (std::size_t i = 0; i < looks.unseen.size(); ++i) {
    if (i > 0) out.raw(", ");
    out.number(looks.unseen[i]);
  }
  out.raw("],\n\"not_readable\": [");
  for (std::size_t i = 0; i < looks.not_readable.size(); ++i) {
    if (i > 0) out.raw(", ");
    out.text(looks.not_readable[i]);
  }
  out.raw("],\n\"earlier_looks\": ").number(static_cast<std::int64_t>(looks.older)).raw("\n}\n");
  out.flush();
  return bytes;
}

}  // namespace unhang::report
