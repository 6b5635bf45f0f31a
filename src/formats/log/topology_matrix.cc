// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/device_reports.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kMost = 1024;
constexpr std::size_t kTables = 4096;
constexpr std::size_t kPairs = 32;  // GPUs whose pairs become events
constexpr int kLegendLines = 260;
constexpr int kMisses = 2;

constexpr std::array<std::string_view, 7> kPeerCells{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};

bool is_peer_cell(std::string_view word) {
  return std::find(kPeerCells.begin(), kPeerCells.end(), word) != kPeerCells.end();
}

bool is_link(std::string_view word) {
  constexpr std::array<std::string_view, 7> kLinks{"PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PXN"};
  if (word.starts_with("NV") && all_digits(word.substr(2))) return true;
  return std::find(kLinks.begin(), kLinks.end(), word) != kLinks.end();
}

bool is_cell(std::string_view word) {
  return word == "X" || is_link(word) || is_peer_cell(word);
}

bool is_gpu(std::string_view word) {
  return word.starts_with("GPU") && all_digits(word.substr(3));
}

// GPU0, NIC3, mlx5_bond_0, ibp24s0, rdma0.
bool is_device(std::string_view word) {
  if (word.empty() || is_cell(word)) return false;
  const bool letter =
      (word.front() >= 'a' && word.front() <= 'z') || (word.front() >= 'A' && word.front() <= 'Z');
  bool digit = false;
  for (const char c : word) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
    if (!plain && !is_digit(c)) return false;
    digit = digit || is_digit(c);
  }
  return letter && digit;
}

// Without the codes that underline the head; the escape character is often lost when it is pasted.
std::string without_underlines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      ++at;
      continue;
    }
    if (text[at] == '[' && at + 2 < text.size() && is_digit(text[at + 1]) && text[at + 2] == 'm') {
      at += 3;
      continue;
    }
    out += text[at++];
  }
  return out;
}

}  // namespace

bool TopologyMatrix::take(const Line& line, Facts& facts) {
  const std::string plain = without_underlines(line.message.substr(0, 1 << 16));
  const std::string_view text = plain;
  if (x_legend_lines > 0 && take_legend(text, facts)) return true;
  if (const auto command = behind(text, "topo -p2p")) {
    x_property = shown(first_word(*command));
    if (x_property.size() > 2) x_property.clear();
    return true;
  }
  if (trimmed(text) == "NIC Legend:") {
    x_legend_lines = x_last ? kLegendLines : 0;
    return x_last.has_value();
  }
  if (take_header(text, line, facts) || take_row(text, line)) return true;
  if (!x_table) return false;
  if (has(text, "Failed to run topology matrix")) {
    x_table->read.failed = true;
    close(facts);
    return true;
  }
  if (!x_table->read.cells.empty() || ++x_table->misses > kMisses) close(facts);
  return false;
}

bool TopologyMatrix::take_header(std::string_view text, const Line& line, Facts& facts) {
  const std::vector<std::string_view> words = words_of(text, kMost);
  if (words.empty() || !is_gpu(words[0])) return false;
  Table table;
  std::size_t at = 0;
  while (at < words.size() && is_device(words[at])) table.read.names.emplace_back(words[at++]);
  table.affinity = has(text, "CPU Affinity");
  table.numa = has(text, "NUMA Affinity");
  const bool ends = at == words.size() ? table.read.names.size() > 1 : table.affinity && words[at] == "CPU";
  if (!ends) return false;
  close(facts);
  table.read.line = line.number;
  table.line = line;
  table.line.whole = table.line.message = table.line.source_file = {};
  x_table = std::move(table);
  return true;
}

bool TopologyMatrix::take_row(std::string_view text, const Line& line) {
  const std::vector<std::string_view> words = words_of(text, kMost);
  if (words.size() < 2 || !is_device(words[0]) || !is_cell(words[1])) return false;
  if (!x_table) {
    // The head was left out. Only a row of several cells is one beyond doubt.
    const bool clear = is_gpu(words[0]) && words.size() >= 3 && is_cell(words[2]) &&
                       (words[1] == "X" || is_link(words[1]) || is_peer_cell(words[1]));
    if (!clear) return false;
    x_table = Table();
    x_table->headed = false;
    x_table->read.line = line.number;
    x_table->line = line;
    x_table->line.whole = x_table->line.message = x_table->line.source_file = {};
    x_table->affinity = x_table->numa = true;
  }
  model::TopologyTable& read = x_table->read;
  if (read.cells.size() >= kMost) return true;
  const std::size_t columns = x_table->headed ? read.names.size() : kMost;
  std::vector<std::string> cells;
  std::size_t at = 1;
  while (at < words.size() && cells.size() < columns && is_cell(words[at])) cells.emplace_back(words[at++]);
  if (x_table->headed) cells.resize(columns);
  read.row_names.emplace_back(words[0]);
  read.cells.push_back(std::move(cells));
  read.cpu_affinity.push_back(x_table->affinity && at < words.size() ? shown(words[at]) : "");
  read.numa_affinity.push_back(x_table->numa && at + 1 < words.size() ? shown(words[at + 1]) : "");
  return true;
}

bool TopologyMatrix::take_legend(std::string_view text, Facts& facts) {
  --x_legend_lines;
  text = trimmed(text);
  if (text.empty()) return true;
  const auto name = behind(text, ": ");
  const auto number = text.starts_with("NIC") ? leading_number(text.substr(3)) : std::nullopt;
  if (!name || !number || *number < 0 || *number >= static_cast<std::int64_t>(kMost) || !x_last) {
    x_legend_lines = 0;
    return false;
  }
  std::vector<std::string>& names = facts.log().topologies[*x_last].nic_names;
  if (names.size() <= static_cast<std::size_t>(*number)) names.resize(static_cast<std::size_t>(*number) + 1);
  names[static_cast<std::size_t>(*number)] = shown(first_word(*name));
  return true;
}

void TopologyMatrix::close_peers(Facts& facts) {
  model::PeerTable peers;
  peers.line = x_table->read.line;
  peers.property = std::exchange(x_property, {});
  peers.cells = std::move(x_table->read.cells);
  // Only reading and writing tell whether a GPU reaches another: atomics and NVLink are further abilities.
  const std::string& property = peers.property;
  const bool access = property.empty() || property == "r" || property == "w" || property == "rw";
  const std::vector<std::string>& rows = x_table->read.row_names;
  for (std::size_t i = 0; access && i < std::min(peers.cells.size(), kPairs); ++i) {
    const auto from = leading_number(std::string_view(rows[i]).substr(3));
    for (std::size_t j = 0; from && j < std::min(peers.cells[i].size(), kPairs); ++j) {
      const std::string& cell = peers.cells[i][j];
      if (cell == "X" || cell == "U" || cell.empty()) continue;
      const auto to = static_cast<std::int64_t>(j);
      LogEvent event;
      event.kind = cell == "OK" ? LogEventKind::kPeerAccessOk : LogEventKind::kPeerAccessMissing;
      event.subject = std::to_string(std::min(*from, to)) + "," + std::to_string(std::max(*from, to));
      event.text = "GPU" + std::to_string(*from) + " to GPU" + std::to_string(to) + ": " + cell;
      facts.add(std::move(event), x_table->line);
    }
  }
  if (facts.log().peer_tables.size() < kTables) facts.log().peer_tables.push_back(std::move(peers));
}

void TopologyMatrix::close(Facts& facts) {
  if (!x_table) return;
  model::TopologyTable& read = x_table->read;
  const auto any_peer = [](const std::vector<std::string>& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [](const std::string& cell) { return is_peer_cell(cell); });
  };
  if (std::any_of(read.cells.begin(), read.cells.end(), any_peer)) {
    close_peers(facts);
    x_table.reset();
    return;
  }
  if (!x_table->headed) {
    // The columns are the rows' devices when there are as many of both.
    const std::size_t columns = read.cells.front().size();
    const bool square =
        columns == read.cells.size() && std::all_of(read.cells.begin(), read.cells.end(),
                                                    [&](const auto& row) { return row.size() == columns; });
    if (!square) {
      x_table.reset();
      return;
    }
    read.names = read.row_names;
  }
  read.failed = read.cells.empty();
  const bool told = !read.cells.empty() || x_table->affinity;
  if (told && facts.log().topologies.size() < kTables) {
    x_last = facts.log().topologies.size();
    facts.log().topologies.push_back(std::move(read));
  }
  x_table.reset();
}

}  // namespace unhang::formats::log
