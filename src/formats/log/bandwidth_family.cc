// SPDX-License-Identifier: Apache-2.0
//
// nccl-tests: what its programs print, from the first releases on, mixed with the lines of NCCL and of many
// processes.
#include <algorithm>
#include <set>
#include <utility>

#include "formats/log/bandwidth_row.h"
#include "formats/log/cuda_error_text.h"
#include "formats/log/families.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::BandwidthRun;
using model::LogEvent;
using model::LogEventKind;

constexpr std::string_view kTriggers[] = {
    // begin and end
    "nccl-tests version", "ollective test ", "# nThread ", "# Using devices", " Pid ", "algbw",
    "Out of bounds values", "Avg bus bandwidth", "_perf ",
    // rows: the type
    " float ", " half ", " double ", " bfloat16 ", " int8 ", " uint8 ", " int32 ", " uint32 ", " int64 ",
    " uint64 ", " f8e4m3 ", " f8e5m2 ", " fp8_e", " char ",
    // failures
    "Test NCCL failure", "Test CUDA failure", "Test failure ", "Test timeout ("};

constexpr std::size_t kRuns = 1024;
constexpr std::size_t kRows = 1024;  // of a run: a sweep has some dozens, -d all -o all some hundreds
constexpr std::size_t kHosts = 1 << 14;
constexpr std::int32_t kMostRanks = 1 << 20;
// The heads of processes that are no job of each other stand side by side.
constexpr std::uint64_t kSameHead = 2;

class BandwidthFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone) return false;
    const std::string_view text = trimmed(line.message);
    if (text.empty()) return false;
    const bool taken = is_digit(text.front()) ? take_row(text, line, facts)
                       : text.front() == '#'  ? take_comment(text, line, facts)
                                              : take_failure(text, line, facts) ||
                                                   take_head_row(text, line, facts) || take_command(text);
    if (taken && x_run) x_last_line = line.number;
    return taken;
  }

  void finish(Facts& facts) override { close(facts); }

 private:
  enum Head : unsigned { kVersion = 1, kStarting = 2, kThreads = 4, kColumns = 8 };

  BandwidthRun& run(const Line& line) {
    if (!x_run) {
      x_run.emplace();
      x_run->line = line.number;
      x_run->test = std::exchange(x_test, {});
    }
    return *x_run;
  }

  void close(Facts& facts) {
    if (x_run && facts.log().bandwidth_runs.size() < kRuns) {
      x_run->hosts.assign(x_hosts.begin(), x_hosts.end());
      facts.log().bandwidth_runs.push_back(std::move(*x_run));
    } else if (x_run) {
      ++facts.log().forgotten;
    }
    x_run.reset();
    x_hosts.clear();
    x_zeros.clear();
    x_columns = {};
    x_heads = 0;
  }

  // A line of which a run has one. Without MPI every process prints its own head, all at once.
  BandwidthRun& head(Head which, const Line& line, Facts& facts) {
    const bool side_by_side = x_run && line.number - x_last_line <= kSameHead;
    const bool over = x_run && (x_run->concluded || x_failed);
    const bool again = x_run && ((x_heads & which) != 0 || !x_run->rows.empty());
    if (over || (again && !side_by_side)) close(facts);
    x_failed = false;
    x_heads |= which;
    return run(line);
  }

  bool take_comment(std::string_view text, const Line& line, Facts& facts) {
    if (const auto version = behind(text, "nccl-tests version ")) {
      head(kVersion, line, facts).version = shown(first_word(*version));
      return true;
    }
    if (const auto test = behind(text, "Collective test starting: ")) {
      head(kStarting, line, facts).test = shown(first_word(*test));
      return true;
    }
    if (text.starts_with("# nThread ")) {
      head(kThreads, line, facts);
      return true;
    }
    if (text.starts_with("# Using devices")) {
      run(line);
      return true;
    }
    if (const auto bounds = behind(text, "Out of bounds values : ")) return take_bounds(*bounds, line, facts);
    if (const auto average = behind(text, "Avg bus bandwidth")) {
      if (const auto value = behind(*average, ":")) {
        run(line).average_busbw = whole_fraction(first_word(*value)).value_or(-1);
      }
      if (x_run) x_run->concluded = true;
      return x_run.has_value();
    }
    if (has(text, "Collective test concluded: ")) {
      if (x_run) x_run->concluded = true;
      return x_run.has_value();
    }
    return take_head_row(text, line, facts) || take_device(text, line);
  }

  bool take_head_row(std::string_view text, const Line& line, Facts& facts) {
    const auto columns = bandwidth_columns(text);
    if (!columns) return false;
    head(kColumns, line, facts);
    x_columns = *columns;
    return true;
  }

  // "#  Rank  0 Group  0 Pid   4940 on       host device  0 [0000:61:00] NVIDIA L40"
  bool take_device(std::string_view text, const Line& line) {
    const auto rank_text = behind(text, "Rank ");
    if (!rank_text || trimmed(before(text, "Rank ")) != "#") return false;
    const auto rank = leading_number(*rank_text);
    const auto pid_text = behind(*rank_text, " Pid ");
    if (!rank || *rank < 0 || *rank >= kMostRanks || !pid_text) return false;
    const auto pid = leading_number(*pid_text);
    const auto host = behind(*pid_text, " on ");
    if (!pid || !host || !has(*host, " device ")) return false;
    BandwidthRun& at = run(line);
    at.ranks = std::max(at.ranks, static_cast<std::int32_t>(*rank) + 1);
    std::string name = shown(first_word(before(*host, " device ")));
    if (!name.empty() && x_hosts.size() < kHosts) x_hosts.insert(name);
    if (*rank == 0 && x_zeros.size() < kHosts) {
      x_zeros.emplace(std::move(name), *pid);
      at.without_mpi = x_zeros.size() > 1;
    }
    return true;
  }

  bool take_row(std::string_view text, const Line& line, Facts& facts) {
    auto read = bandwidth_row(text, x_columns);
    if (!read && x_columns.known) read = bandwidth_row(text, {});
    if (!read) return false;
    // Without MPI the other processes' rows go on when one has ended.
    if (x_run && x_run->concluded && !x_run->without_mpi) close(facts);
    BandwidthRun& at = run(line);
    at.cut_row = read->cut;
    if (at.rows.size() < kRows) {
      at.rows.push_back(std::move(read->row));
    } else {
      at.rows.back() = std::move(read->row);  // -N 0 repeats for ever: the latest counts
      ++facts.log().forgotten;
    }
    return true;
  }

  bool take_bounds(std::string_view bounds, const Line& line, Facts& facts) {
    const auto count = leading_number(bounds);
    if (!count) return false;
    BandwidthRun& at = run(line);
    at.out_of_bounds = *count;
    at.concluded = true;
    if (has(bounds, "FAILED")) {
      LogEvent event;
      event.kind = LogEventKind::kTestFailure;
      event.detail = std::to_string(*count) + " values out of bounds";
      facts.add(std::move(event), line);
    }
    return true;
  }

  // "HOST: Test NCCL failure common.cu:958 'unhandled system error / last error'"; the lines "HOST pid N:
  // Test failure common.cu:766" under it are the way back through the calls.
  bool take_failure(std::string_view text, const Line& line, Facts& facts) {
    LogEvent event;
    event.kind = LogEventKind::kTestFailure;
    const auto nccl = behind(text, "Test NCCL failure");
    const auto cuda = behind(text, "Test CUDA failure");
    if (nccl || cuda) {
      const auto quote = behind(nccl ? *nccl : *cuda, "'");
      const std::string_view said =
          quote ? quote->substr(0, quote->rfind('\'')) : trimmed(nccl ? *nccl : *cuda);
      event.detail = shown(std::string(nccl ? "NCCL: " : "CUDA: ") + std::string(said));
      const std::int64_t number = cuda ? cuda_error_number(said) : -1;
      facts.add(event, line);
      if (number >= 0) {
        LogEvent error;
        error.kind = number == 2 ? LogEventKind::kCudaOutOfMemory : LogEventKind::kCudaError;
        error.code = number == 2 ? 0 : number;
        error.detail = number == 2 ? "" : shown(said);
        if (const auto where = behind(text, "failure ")) error.subject = shown(up_to(*where, ": "));
        facts.add(std::move(error), line);
      }
    } else if (const auto timeout = behind(text, "Test timeout (")) {
      event.detail = shown("time-out of " + std::string(before(*timeout, ")")));
      facts.add(std::move(event), line);
    } else {
      return has(text, ": Test failure ");
    }
    x_failed = true;
    return true;
  }

  // A command in front of its output names the test, which old releases do not.
  bool take_command(std::string_view text) {
    const std::size_t at = find_text(text, "_perf ");
    if (at == std::string_view::npos) return false;
    const std::string_view program = last_word(text.substr(0, at + 5));
    const std::size_t slash = program.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? program : program.substr(slash + 1);
    if (name.size() < 9 || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string_view::npos) {
      return false;
    }
    if (!has(text.substr(at), " -")) return false;
    x_test = shown(name);
    return true;
  }

  std::optional<BandwidthRun> x_run;
  BandwidthColumns x_columns;
  std::set<std::string> x_hosts;
  std::set<std::pair<std::string, std::int64_t>> x_zeros;  // host and pid of each that calls itself rank 0
  unsigned x_heads = 0;
  bool x_failed = false;
  std::uint64_t x_last_line = 0;
  std::string x_test;  // of the next run
};

}  // namespace

std::unique_ptr<Family> bandwidth_family() {
  return std::make_unique<BandwidthFamily>();
}

}  // namespace unhang::formats::log
