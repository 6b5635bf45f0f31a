// SPDX-License-Identifier: Apache-2.0
#include "report/stack_tree.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;

// The innermost frame is where a loop was met: its line says little. Native lines differ by inlining only.
Key key_of(const StackLook& look, std::size_t depth) {
  const model::StackFrame& frame = look.path[depth];
  const bool calls = frame.python && depth + 1 < look.path.size();
  return {frame.function, frame.file, calls ? frame.line : -1};
}

}  // namespace

std::vector<StackNode> merge_stacks(const std::vector<const StackLook*>& looks) {
  std::vector<StackNode> nodes(1);
  std::map<std::pair<std::size_t, Key>, std::size_t> known;
  std::vector<std::map<std::int64_t, std::size_t>> lines(1);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    std::size_t at = 0;
    nodes[0].members.push_back(i);
    for (std::size_t depth = 0; depth < looks[i]->path.size(); ++depth) {
      const auto [place, is_new] = known.emplace(std::pair(at, key_of(*looks[i], depth)), nodes.size());
      if (is_new) {
        nodes[at].children.push_back(nodes.size());
        StackNode node;
        node.frame = looks[i]->path[depth];
        node.activity = node.frame.file == kKernelFile ? model::activity_of_kernel(node.frame.function)
                                                       : model::activity_of(node.frame);
        nodes.push_back(std::move(node));
        lines.emplace_back();
      }
      at = place->second;
      nodes[at].members.push_back(i);
      ++lines[at][looks[i]->path[depth].line];
    }
  }
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const auto most = std::max_element(lines[at].begin(), lines[at].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != lines[at].end()) nodes[at].frame.line = most->first;
    std::stable_sort(nodes[at].children.begin(), nodes[at].children.end(), [&](std::size_t a, std::size_t b) {
      return nodes[a].members.size() > nodes[b].members.size();
    });
  }
  return nodes;
}

std::string folded_stacks(const StackLooks& looks) {
  std::map<std::string, std::size_t> counts;
  for (const StackLook& look : looks.looks) {
    std::string line;
    for (const model::StackFrame& frame : look.path) {
      if (!line.empty()) line += ';';
      std::string text = frame.function.empty() ? "??" : frame.function;
      const std::size_t slash = frame.file.rfind('/');
      const std::string file = slash == std::string::npos ? frame.file : frame.file.substr(slash + 1);
      if (!file.empty())
        text += " (" + file + (frame.python && frame.line > 0 ? ":" + std::to_string(frame.line) : "") + ")";
      // One line, and no separator inside a frame.
      for (char& c : text) {
        if (c == ';') c = ':';
      }
      line += one_line(text);
    }
    ++counts[line];
  }
  std::string out;
  for (const auto& [line, count] : counts) out += line + " " + std::to_string(count) + "\n";
  return out;
}

}  // namespace unhang::report
