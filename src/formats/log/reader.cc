// SPDX-License-Identifier: Apache-2.0
#include "formats/log/reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/facts.h"
#include "formats/log/families.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/line_stream.h"

namespace unhang::formats::log {
namespace {

// In the order in which they are asked; the first that knows a line has it. NCCL's is owner 0.
constexpr std::array kMakers{nccl_family,           watchdog_family, store_family,
                             launcher_family,       engine_family,   kernel_family,
                             fabric_manager_family, topology_family, bandwidth_family,
                             accelerator_family,    mpi_family,      activity_family};

// A line of a program or a command that names what a log would say: `x = "NVRM: Xid …"`, `dmesg | grep Xid`.
bool is_code(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t+-|>`*");
  if (first == std::string_view::npos) return false;
  if (text.substr(first).starts_with("assert ")) return true;
  // Looks only beside the marks, in one pass: many lines of training are full of them.
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\'' && c != '|') continue;
    any = true;
    const std::string_view before = text.substr(0, i), from = text.substr(i + 1);
    if (c == '|' && from.starts_with(" grep ")) return true;
    if (c != '|' && from.starts_with(" in line")) return true;
    if (c == '"' && (before.ends_with(" = ") || before.ends_with(" = f") || before.ends_with(" = r") ||
                     before.ends_with("startswith(")))
      return true;
  }
  return any && (text.find("re.search(") != std::string_view::npos ||
                 text.find("re.compile(") != std::string_view::npos);
}

}  // namespace

class LogReader::State {
 public:
  State()
      : x_facts(x_log),
        x_filter(filter()),
        x_lines(x_facts, x_filter, [this](const Line& line, std::uint32_t owners) { take(line, owners); }) {}

  void feed(std::string_view bytes) { x_lines.feed(bytes); }

  model::Log finish() {
    x_lines.finish();
    for (const auto& family : x_families) family->finish(x_facts);
    // Some families know only at the end what a line meant.
    std::stable_sort(x_log.events.begin(), x_log.events.end(),
                     [](const model::LogEvent& a, const model::LogEvent& b) { return a.line < b.line; });
    return std::move(x_log);
  }

 private:
  const KeywordFilter& filter() {
    for (unsigned i = 0; i < kMakers.size(); ++i) {
      x_families[i] = kMakers[i]();
      for (const std::string_view trigger : x_families[i]->triggers()) x_own_filter.add(trigger, i);
    }
    LineStream::add_keywords(x_own_filter);
    x_own_filter.prepare();
    return x_own_filter;
  }

  void take(const Line& line, std::uint32_t owners) {
    const std::uint32_t asked = line.nccl == NcclLevel::kNone ? owners | x_open : LineStream::kNcclOwner;
    if (line.nccl == NcclLevel::kNone && owners != 0 && is_code(line.whole)) return;
    for (unsigned i = 0; i < x_families.size(); ++i) {
      if ((asked >> i & 1u) == 0) continue;
      const bool known = x_families[i]->take(line, x_facts);
      const std::uint32_t bit = 1u << i;
      x_open = x_families[i]->open() ? x_open | bit : x_open & ~bit;
      if (!known) continue;
      ++x_log.recognised;
      break;
    }
    x_lines.all_lines(x_open != 0);
  }

  model::Log x_log;
  Facts x_facts;
  std::array<std::unique_ptr<Family>, kMakers.size()> x_families;
  KeywordFilter x_own_filter;
  const KeywordFilter& x_filter;
  LineStream x_lines;
  std::uint32_t x_open = 0;  // families that hold a half-read record
};

LogReader::LogReader() : x_state(std::make_unique<State>()) {}
LogReader::~LogReader() = default;

void LogReader::feed(std::string_view bytes) {
  x_state->feed(bytes);
}

model::Log LogReader::finish() {
  return x_state->finish();
}

}  // namespace unhang::formats::log
