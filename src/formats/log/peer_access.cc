// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "formats/log/device_reports.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kMost = 1024;
constexpr std::size_t kTables = 4096;

bool add(bool can, std::optional<std::int64_t> a, std::optional<std::int64_t> b, const Line& line,
         Facts& facts) {
  if (!a || !b) return false;
  LogEvent event;
  event.kind = can ? LogEventKind::kPeerAccessOk : LogEventKind::kPeerAccessMissing;
  event.subject = std::to_string(std::min(*a, *b)) + "," + std::to_string(std::max(*a, *b));
  facts.add(std::move(event), line);
  return true;
}

}  // namespace

bool PeerAccessTest::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (x_lines_left > 0) {
    --x_lines_left;
    if (take_matrix(line, facts)) return true;
  }
  // "Device=0 CANNOT Access Peer Device=2"
  if (const auto peer = behind(text, " Access Peer Device=")) {
    const auto device = behind(text, "Device=");
    return add(!has(text, "CANNOT"), leading_number(*device), leading_number(*peer), line, facts);
  }
  // "> Peer access from NVIDIA A100 (GPU0) -> NVIDIA A100 (GPU1) : No"
  if (const auto pair = behind(text, "Peer access from ")) {
    const auto from = behind(*pair, "(GPU");
    const auto to = from ? behind(*from, "(GPU") : std::nullopt;
    const std::string_view answer = last_word(text);
    if (!to || (answer != "Yes" && answer != "No")) return false;
    return add(answer == "Yes", leading_number(*from), leading_number(*to), line, facts);
  }
  if (!has(text, "P2P Connectivity Matrix")) return false;
  close(facts);
  x_lines_left = static_cast<int>(kMost) + 2;
  x_table.line = line.number;
  return true;
}

bool PeerAccessTest::take_matrix(const Line& line, Facts& facts) {
  const std::vector<std::string_view> words = words_of(line.message, kMost + 1);
  if (!words.empty() && words[0] == "D\\D" && x_columns == 0) {
    x_columns = words.size() - 1;
    return true;
  }
  const std::size_t row = x_table.cells.size();
  const auto bits = [](std::string_view word) { return word == "0" || word == "1"; };
  if (words.size() == x_columns + 1 && words[0] == std::to_string(row) &&
      std::all_of(words.begin() + 1, words.end(), bits)) {
    std::vector<std::string> cells;
    for (std::size_t j = 0; j < x_columns; ++j)
      cells.push_back(j == row ? "X" : words[j + 1] == "1" ? "OK" : "NS");
    x_table.cells.push_back(std::move(cells));
    if (x_table.cells.size() == x_columns) close(facts);
    return true;
  }
  close(facts);
  return false;
}

void PeerAccessTest::close(Facts& facts) {
  if (!x_table.cells.empty() && facts.log().peer_tables.size() < kTables) {
    x_table.property = "access";
    facts.log().peer_tables.push_back(std::move(x_table));
  }
  x_table = {};
  x_columns = 0;
  x_lines_left = 0;
}

}  // namespace unhang::formats::log
