// SPDX-License-Identifier: Apache-2.0
#include "formats/log/reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/block_queue.h"
#include "formats/log/facts.h"
#include "formats/log/families.h"
#include "formats/log/fields.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/line_blocks.h"
#include "formats/log/line_stream.h"

namespace unhang::formats::log {
namespace {

// In the order in which they are asked; the first that knows a line has it. NCCL's is the first owner.
constexpr KeywordBits kNccl = 1;
constexpr std::array kMakers{nccl_family,           watchdog_family, store_family,
                             launcher_family,       engine_family,   kernel_family,
                             fabric_manager_family, topology_family, bandwidth_family,
                             accelerator_family,    mpi_family,      activity_family};
static_assert(kMakers.size() <= kFamilyOwners);

// Of a line of a program or a command that names what a log would say: `x = "NVRM: Xid …"`,
// `dmesg | grep Xid`.
constexpr OwnedKeyword kCodeWords[] = {
    {"assert ", kCode},    {"| grep ", kCode},     {"\" in line", kCode}, {"' in line", kCode},
    {" = \"", kCode},      {" = f\"", kCode},      {" = r\"", kCode},     {"startswith(\"", kCode},
    {"re.search(", kCode}, {"re.compile(", kCode},
};

bool is_code(const Line& line) {
  if (!line.may_hold(kCode)) return false;
  const std::string_view text = line.whole;
  for (const OwnedKeyword& keyword : kCodeWords) {
    const std::size_t at = find_text(text, keyword.text);
    if (at == std::string_view::npos) continue;
    if (keyword.text == "assert ") {
      // A statement stands at the beginning, or behind what a page or a diff puts there.
      if (text.find_first_not_of(" \t+-|>`*") == at) return true;
    } else if (keyword.text.starts_with("re.")) {
      if (text.find_first_of("\"'|") != std::string_view::npos) return true;
    } else {
      return true;
    }
  }
  return false;
}

using Families = std::array<std::unique_ptr<Family>, kMakers.size()>;

Families make_families() {
  Families out;
  for (unsigned i = 0; i < kMakers.size(); ++i) out[i] = kMakers[i]();
  return out;
}

KeywordFilter make_filter() {
  KeywordFilter out;
  const Families families = make_families();
  for (unsigned i = 0; i < families.size(); ++i) {
    for (const std::string_view trigger : families[i]->triggers()) out.add(trigger, i);
    for (const OwnedKeyword& keyword : families[i]->keywords()) out.add(keyword.text, keyword.owner);
  }
  for (const OwnedKeyword& keyword : kCodeWords) out.add(keyword.text, keyword.owner);
  for (const OwnedKeyword& keyword : request_keywords()) out.add(keyword.text, keyword.owner);
  LineStream::add_keywords(out);
  out.prepare();
  return out;
}

// The same for every log, and to make it costs as much as to read some 100 kB: a job leaves thousands of
// small files.
const KeywordFilter& filter() {
  static const KeywordFilter filter = make_filter();
  return filter;
}

}  // namespace

class LogReader::State {
 public:
  explicit State(unsigned threads)
      : x_facts(x_log), x_lines(x_facts, filter(), [this](const Line& line) { take(line); }) {
    if (threads > 1)
      x_queue = std::make_unique<BlockQueue>(filter(), threads,
                                             [this](const PreparedBlock& block) { x_lines.take(block); });
  }

  void feed(std::string_view bytes) {
    if (x_queue) {
      x_blocks.feed(bytes);
    } else {
      x_lines.feed(bytes);
    }
  }

  model::Log finish() {
    if (x_queue) {
      x_blocks.finish();
      x_queue->finish();
    }
    x_lines.finish();
    for (const auto& family : x_families) family->finish(x_facts);
    // Some families know only at the end what a line meant.
    std::stable_sort(x_log.events.begin(), x_log.events.end(),
                     [](const model::LogEvent& a, const model::LogEvent& b) { return a.line < b.line; });
    return std::move(x_log);
  }

 private:
  void take(const Line& line) {
    const KeywordBits owners = line.keywords & kFamilyKeywords;
    const bool nccl = line.nccl != NcclLevel::kNone;
    const KeywordBits asked = nccl ? kNccl : owners | x_open;
    if (!nccl && owners != 0 && is_code(line)) return;
    for (unsigned i = 0; i < x_families.size(); ++i) {
      if ((asked >> i & 1u) == 0) continue;
      const bool known = x_families[i]->take(line, x_facts);
      const KeywordBits own = KeywordBits{1} << i;
      x_open = x_families[i]->open() ? x_open | own : x_open & ~own;
      if (!known) continue;
      ++x_log.recognised;
      break;
    }
    x_lines.all_lines(x_open != 0);
  }

  model::Log x_log;
  Facts x_facts;
  Families x_families = make_families();
  LineStream x_lines;
  LineBlocks x_blocks{[this](std::string& block) { x_queue->add(block); }};
  std::unique_ptr<BlockQueue> x_queue;  // where there are several threads
  KeywordBits x_open = 0;               // families that hold a half-read record
};

LogReader::LogReader(unsigned threads) : x_state(std::make_unique<State>(threads)) {}
LogReader::~LogReader() = default;

void LogReader::feed(std::string_view bytes) {
  x_state->feed(bytes);
}

model::Log LogReader::finish() {
  return x_state->finish();
}

}  // namespace unhang::formats::log
