// SPDX-License-Identifier: Apache-2.0
#include "report/process_list.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "report/stack_looks.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

constexpr std::size_t kMostRows = 200;
constexpr int kDeepest = 8;  // deeper ones are not indented further

using Key = std::pair<std::string, std::int64_t>;  // host and pid

struct Row {
  const model::ProcessSample* sample = nullptr;
  std::string doing;
  int depth = 0;
  std::vector<const Row*> children;
};

std::string state_words(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
      return "waits";
    case 'D':
      return "stuck (D)";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
      return "dead (Z)";
    default:
      return "";
  }
}

class ProcessTree {
 public:
  explicit ProcessTree(const model::Case& joined) {
    for (const model::ProcessReading& reading : joined.processes) {
      if (reading.sample.pid >= 0) x_rows[{reading.sample.host, reading.sample.pid}].sample = &reading.sample;
    }
    for (const StackLook& look : stack_looks(joined, false).looks) {
      const auto row = x_rows.find({look.host, look.pid});
      if (row != x_rows.end()) row->second.doing = words_of(look.activity);
    }
    for (auto& [key, row] : x_rows) {
      const auto parent = x_rows.find({key.first, row.sample->parent});
      if (parent == x_rows.end() || parent->second.sample == row.sample) {
        x_roots.push_back(&row);
      } else {
        parent->second.children.push_back(&row);
      }
    }
  }

  // Depth first, children in the order of their numbers. A circle of parents (made up) is not reached.
  std::vector<std::pair<const Row*, int>> in_order() const {
    std::vector<std::pair<const Row*, int>> out, open;
    for (std::size_t i = x_roots.size(); i-- > 0;) open.emplace_back(x_roots[i], 0);
    while (!open.empty()) {
      const auto [row, depth] = open.back();
      open.pop_back();
      out.emplace_back(row, depth);
      for (std::size_t i = row->children.size(); i-- > 0;) open.emplace_back(row->children[i], depth + 1);
    }
    return out;
  }

 private:
  std::map<Key, Row> x_rows;
  std::vector<const Row*> x_roots;
};

// What the bundle's manifest keeps of it: no secrets (collect/redaction.h).
void add_variables(const model::Case& joined, const model::ProcessSample& sample, int width,
                   std::vector<Line>& lines) {
  for (const model::BundleManifest& bundle : joined.bundles) {
    if (!sample.host.empty() && bundle.host != sample.host) continue;
    for (const model::BundleProcess& process : bundle.processes) {
      if (process.pid != sample.pid) continue;
      for (const auto& [name, value] : process.environment)
        lines.push_back(
            {{"      " + cut(one_line(name + "=" + value), std::max(width - 6, 20)), Style::kFaint}});
    }
  }
}

}  // namespace

std::string render_processes(const model::Case& joined, const ProcessListOptions& options) {
  const ProcessTree tree(joined);
  const auto rows = tree.in_order();
  if (rows.empty()) return {};
  const bool hosts = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
    return row.first->sample->host != rows.front().first->sample->host;
  });
  std::vector<std::vector<std::string>> cells{{"rank", hosts ? "host:pid" : "pid", "state", "program"}};
  std::vector<std::string> doing{"does"};
  for (const auto& [row, depth] : rows) {
    if (cells.size() > kMostRows) break;
    const model::ProcessSample& sample = *row->sample;
    const std::string pid = std::to_string(sample.pid);
    cells.push_back({sample.rank >= 0 ? std::to_string(sample.rank) : "-",
                     hosts ? one_line(sample.host) + ":" + pid : pid, state_words(sample.state),
                     std::string(static_cast<std::size_t>(std::min(depth, kDeepest)) * 2, ' ') +
                         cut(one_line(sample.program), 32)});
    doing.push_back(row->doing);
  }
  std::vector<int> widths(cells.front().size(), 0);
  for (const auto& row : cells) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::vector<Line> lines;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string text = "  ";
    for (std::size_t i = 0; i < cells[r].size(); ++i) {
      text += cells[r][i] + std::string(static_cast<std::size_t>(widths[i] - columns(cells[r][i])) + 2, ' ');
    }
    const int room = std::max(options.width - columns(text), 12);
    lines.push_back({{text, r == 0 ? Style::kLabel : Style::kPlain},
                     {cut(doing[r], room), r == 0 ? Style::kLabel : Style::kPlain}});
    if (options.environment && r > 0) add_variables(joined, *rows[r - 1].first->sample, options.width, lines);
  }
  if (rows.size() > kMostRows)
    lines.push_back(
        {{"  … " + counted(rows.size() - kMostRows, "more process", "more processes"), Style::kFaint}});
  return paint(lines, options.color);
}

}  // namespace unhang::report
