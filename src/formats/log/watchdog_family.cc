// SPDX-License-Identifier: Apache-2.0
//
// ProcessGroupNCCL: time-outs of its watchdog and what belongs to them, the heartbeat monitor, dump signals,
// desync reports, NCCL's and CUDA's errors as exceptions.
#include <string>

#include "formats/log/cuda_error_text.h"
#include "formats/log/families.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_exception.h"
#include "formats/log/timeout_records.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::string_view kTriggers[] = {
    "WorkNCCL(",
    "atchdog caught collective operation",
    "detected by watchdog at work",
    "Timeout at NCCL work",
    "watchdog got stuck",
    "Heartbeat monitor timed out",
    "watchdog hang",
    "acquire GIL",
    "dump signal",
    "timeout from another rank",
    "timed out in blocking wait",
    "lagging ranks that caused",
    "but didn't finish collective #",
    "but didn't join collective #",
    "NCCL error",
    "NCCL communicator was aborted",
    "NCCLABORTEDCOMM:",
    "unhandled cuda error",
    "unhandled system error",
    "ncclRemoteError",
    "remote error detected",
    "Last error:",
    "CUDA error: ",
    "cuda runtime error (",
    "cudaGetDeviceCount()",
    "Culprit rank ",
    "an illegal memory access was",
    "uncorrectable ECC error enc",
    "uncorrectable NVLink error",
    "Detected mismatch between collectives",
    "DDP expects same model across",
    "failed to pass monitoredBarrier",
    "timed out in monitoredBarrier",
    "x across cluster]",
};

// Lines on which the rest of a wrapped time-out is looked for, and the length at which that ends.
constexpr int kWrappedLines = 3;
constexpr std::size_t kWrappedBytes = 4096;

// "[repeated 6x across cluster]": Ray printed one of seven such lines.
std::int64_t collapsed_in(const Line& line) {
  const std::string_view whole = line.whole.empty() ? line.message : line.whole;
  return has(whole, "x across cluster]") ? number_after(whole, "[repeated ", 0) : 0;
}

class WatchdogFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }
  bool open() const override { return x_lines_left > 0 || x_exception.open(); }

  bool take(const Line& line, Facts& facts) override {
    if (quotes_request(line)) return false;
    if (const std::int64_t count = collapsed_in(line); count > 0) {
      facts.add(event_of(LogEventKind::kLinesCollapsed, count), line);
    }
    if (x_exception.take_following(line, facts)) return true;
    if (x_lines_left > 0 && take_rest(line, facts)) return true;
    return take_timeout(line, facts) || take_state(line, facts) || take_monitor(line, facts) ||
           take_report(line, facts) || x_exception.take(line, facts) || take_cuda_error(line, facts);
  }

  void finish(Facts& facts) override { close(facts); }

 private:
  // --- time-outs ---------------------------------------------------------------------------------------
  void add(std::string_view text, const Line& line, Facts& facts) {
    const auto work = read_collective_work(text);
    TimeoutRecords::Told told;
    if (work) {
      told.work = *work;
    } else {
      told.work.cut = true;
    }
    const std::size_t sentence = find_text(text, "atchdog caught");
    const std::size_t end = sentence != text.npos ? sentence : find_text(text, "WorkNCCL(");
    told.group = read_group_prefix(text, end, false);
    // The exception that ends the thread names the group in front and the rank once more behind.
    const std::size_t thread = find_text(text, "watchdog thread terminated");
    if (thread != text.npos) {
      const GroupPrefix outer = read_group_prefix(text, thread, false);
      if (!outer.id.empty() || !outer.name.empty()) told.group = outer;
    }
    told.repeats = thread != text.npos || has(text, "what():") || has(text, "Original reason for failure");
    told.blocking_wait = has(text, "timed out in blocking wait");
    told.collapsed = collapsed_in(line);
    x_records.add(told, line, facts);
    if (told.blocking_wait) {
      facts.add(event_of(LogEventKind::kBlockingWait), line);
    }
  }

  bool take_timeout(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    // (The text of an aborted communicator quotes the time-out, often in the next line of a terminal.)
    const bool caught = has(text, "atchdog caught collective operation") ||
                        has(text, "Original reason for failure was: [Rank");
    const std::size_t at = find_text(text, "WorkNCCL(");
    if (at == text.npos && !caught) return false;
    const bool bare = at != text.npos && trimmed(text.substr(0, at)).empty();
    if (!caught && !bare && !has(text, "ran for") && !has(text, "timed out")) return false;
    const auto work = read_collective_work(text);
    if (work && !work->cut) {
      add(text, line, facts);
      return true;
    }
    close(facts);
    x_wrapped.assign(text.substr(0, kWrappedBytes));
    x_wrapped_line = line;
    x_wrapped_line.whole = x_wrapped_line.message = x_wrapped_line.source_file = {};
    x_lines_left = kWrappedLines;
    return true;
  }

  // A wrapped time-out goes on, or this line has nothing to do with it.
  bool take_rest(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (has(text, "atchdog") || x_wrapped.size() + text.size() > kWrappedBytes) {
      close(facts);
      return false;
    }
    --x_lines_left;
    if (line.origin == x_wrapped_line.origin || line.continues) {
      const std::string joined = x_wrapped + std::string(trimmed(text));
      const auto work = read_collective_work(joined);
      if (work && !work->cut) {
        x_wrapped = joined;
        close(facts);
        return true;
      }
      if (work && has(text, "=") && has(text, ",")) x_wrapped = joined;
    }
    if (x_lines_left == 0) close(facts);
    return false;
  }

  void close(Facts& facts) {
    x_lines_left = 0;
    if (x_wrapped.empty()) return;
    const std::string text = std::move(x_wrapped);
    x_wrapped.clear();
    x_wrapped_line.message = text;
    add(text, x_wrapped_line, facts);
    x_wrapped_line.message = {};
  }

  // "… at work: S, last enqueued NCCL work: E, last completed NCCL work: C.", "… at work sequence id: S PG
  // status: last enqueued work: E, last completed work: C"
  bool take_state(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    std::size_t at = find_text(text, "detected by watchdog at work");
    const bool newer = at != text.npos;
    if (!newer) at = find_text(text, "Timeout at NCCL work");
    if (at == text.npos) return false;
    const std::string_view rest = text.substr(at);
    const std::int64_t sequence = number_after(rest, ":");
    if (sequence < 0) return false;
    const bool worded_work = has(rest, "last enqueued work:");
    const std::int64_t enqueued =
        number_after(rest, worded_work ? "last enqueued work:" : "last enqueued NCCL work:");
    const std::int64_t completed =
        number_after(rest, worded_work ? "last completed work:" : "last completed NCCL work:");
    const GroupPrefix group = read_group_prefix(text, at, newer);
    x_records.add_state(group, sequence, enqueued, completed, collapsed_in(line), line, facts);
    return true;
  }

  // --- heartbeat monitor, dump signals --------------------------------------------------------------------
  bool take_monitor(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (has(text, "watchdog got stuck") || has(text, "Heartbeat monitor timed out") ||
        has(text, "watchdog hang")) {
      facts.add(event_of(LogEventKind::kWatchdogStuck, number_after(text, "got stuck for ")), line);
      return true;
    }
    if (has(text, "ould not acquire GIL") || has(text, "ailed to acquire GIL")) {
      facts.add(event_of(LogEventKind::kInterpreterLock), line);
      return true;
    }
    const bool global = has(text, "timeout from another rank");
    if (!global && !has(text, "dump signal")) return false;
    // Of this rank itself: its own time-out tells more.
    if (has(text, "from this local rank") || has(text, "through pipe")) return true;
    const bool observed = global || has(text, "signal from another rank");
    if (!observed && !has(text, "dump signal due to")) return false;
    std::string state;
    if (const std::int64_t last = number_after(text, "ast enqueued NCCL work:"); last >= 0) {
      state = "enqueued " + std::to_string(last) + " completed " +
              std::to_string(number_after(text, "last completed NCCL work:"));
    }
    const GroupPrefix group = read_group_prefix(text, text.size(), true);
    const std::int32_t first = rank_after(text, has(text, "from  rank ") ? "from  rank " : "from rank ");
    facts.add(event_of(LogEventKind::kDumpSignal, 0, first, state, group.name), line);
    return true;
  }

  // --- reports that compare ranks -----------------------------------------------------------------------
  bool take_report(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (const std::size_t at = find_text(text, "] are the lagging ranks that caused"); at != text.npos) {
      const std::size_t open = text.rfind('[', at);
      if (open == text.npos) return false;
      facts.add(event_of(LogEventKind::kLaggingRanks, 1, -1, folded_ranks(text.substr(open))), line);
      return true;
    }
    for (const std::string_view mark :
         {"] joined but didn't finish collective #", "] finished collective #"}) {
      const std::size_t at = find_text(text, mark);
      if (at == text.npos) continue;
      const std::size_t open = text.rfind('[', at);
      if (open == text.npos) continue;
      facts.add(event_of(LogEventKind::kLaggingRanks, 0, -1, folded_ranks(text.substr(open))), line);
      return true;
    }
    if (const auto mismatch = behind(text, "Detected mismatch between collectives on ranks")) {
      const auto other = behind(*mismatch, "but Rank ");
      const auto number = other ? number_at(*other) : std::nullopt;
      facts.add(event_of(LogEventKind::kShapeMismatchReport, number ? number->value : -1,
                         rank_after(*mismatch, "Rank ")),
                line);
      return true;
    }
    // The words of torchfrtrace: "Culprit rank 22; Error type: SIZE_OR_SYNTAX_MISMATCH, …, Culprit rank 110;
    // …"
    bool culprit = false;
    for (auto rest = behind(text, "Culprit rank "); rest; rest = behind(*rest, "Culprit rank ")) {
      if (!has(rest->substr(0, 80), "MISMATCH")) continue;
      facts.add(event_of(LogEventKind::kShapeMismatchReport, -1, rank_after(*rest, "")), line);
      culprit = true;
    }
    if (culprit) return true;
    if (const auto models = behind(text, "DDP expects same model across all ranks")) {
      facts.add(event_of(LogEventKind::kShapeMismatchReport, number_after(*models, "while rank "),
                         rank_after(*models, "but Rank ")),
                line);
      return true;
    }
    if (const std::size_t at = find_text(text, " failed to pass monitoredBarrier"); at != text.npos) {
      const std::size_t ranks = text.rfind("Rank", at);
      if (ranks == text.npos) return false;
      const std::size_t list = text.find(' ', ranks);
      facts.add(event_of(LogEventKind::kMonitoredBarrier, 0, -1, folded_ranks(text.substr(list))), line);
      return true;
    }
    if (has(text, "timed out in monitoredBarrier")) {
      facts.add(event_of(LogEventKind::kMonitoredBarrier), line);
      return true;
    }
    return false;
  }

  TimeoutRecords x_records;
  NcclException x_exception;
  std::string x_wrapped;  // a time-out whose line ended too early
  Line x_wrapped_line;
  int x_lines_left = 0;
};

}  // namespace

std::unique_ptr<Family> watchdog_family() {
  return std::make_unique<WatchdogFamily>();
}

}  // namespace unhang::formats::log
