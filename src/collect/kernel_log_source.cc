// SPDX-License-Identifier: Apache-2.0
#include "collect/kernel_log_source.h"

#include <algorithm>
#include <iterator>

#include "base/redaction.h"
#include "base/time_text.h"
#include "collect/redaction.h"
#include "collect/source_tally.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::seconds kLongestReading{5};

os::KernelLog read_dmesg(std::string_view text, std::size_t most) {
  os::KernelLog log;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto record = os::parse_dmesg_line(text.substr(0, end))) log.records.push_back(std::move(*record));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  log.cut = log.records.size() > most;
  if (log.cut) log.records.erase(log.records.begin(), log.records.end() - static_cast<std::ptrdiff_t>(most));
  return log;
}

// A fault of the machine shortly before the job can be what hinders its start.
constexpr std::int64_t kBeforeTheJob = 3'600'000'000'000;
// Where nobody knows when the job began: there is no worker any more.
constexpr std::int64_t kLastDay = 86'400'000'000'000;

class KernelLogKeeper {
 public:
  KernelLogKeeper(const KernelLogPlace& place, CaptureNames& names, CaptureContext& context)
      : x_place(place), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    const auto end = std::min(x_tally.real_deadline(), std::chrono::steady_clock::now() + kLongestReading);
    const auto log = os::read_kernel_log(x_place.device, x_place.max_records, end);
    if (log && !log->records.empty()) {
      keep(*log, x_place.device);
      return x_tally.outcome({});
    }
    std::string why = log ? x_place.device + ": it gave nothing" : log.error().message;
    if (ask_programs()) return x_tally.outcome({});
    if (!log && log.error().code == base::ErrorCode::kUnavailable) {
      x_tally.not_allowed(why + " (it needs root or CAP_SYSLOG, and in a container /dev/kmsg)");
    } else {
      x_tally.note(why);
    }
    return x_tally.outcome({});
  }

 private:
  bool ask_programs() {
    if (is_installed(x_place.programs, "dmesg")) {
      const auto reply =
          run_helper(x_place.programs, {.words = {"dmesg"}, .limit = kLongestReading}, x_tally);
      const os::KernelLog log = read_dmesg(reply.output, x_place.max_records);
      if (!log.records.empty()) return keep(log, "dmesg");
    }
    if (!is_installed(x_place.programs, "journalctl")) return false;
    const HelperRun run{.words = {"journalctl", "-k", "-o", "short-iso-precise", "--utc", "--no-pager", "-q",
                                  "-n", std::to_string(x_place.max_records)},
                        .limit = kLongestReading};
    return run_and_keep(x_place.programs, run, "kernel", "journalctl.log", x_names, x_tally);
  }

  std::int64_t relevant_since() const {
    return x_place.job_began_ns ? *x_place.job_began_ns - kBeforeTheJob
                                : x_tally.context().wall_ns() - kLastDay;
  }

  bool keep(os::KernelLog log, const std::string& from) {
    const std::int64_t start = os::kernel_clock_start_ns();
    const std::int64_t since_us = (relevant_since() - start) / 1000;
    const auto newer =
        std::find_if(log.records.begin(), log.records.end(),
                     [&](const os::KernelRecord& record) { return record.since_start_us >= since_us; });
    os::KernelLog older{{std::make_move_iterator(log.records.begin()), std::make_move_iterator(newer)},
                        log.cut};
    log.records.erase(log.records.begin(), newer);
    if (older.records.empty()) return write(log, start, from, false);
    log.cut = false;
    const bool wrote_older = write(older, start, from + ", from before the job", true);
    return (log.records.empty() || write(log, start, from, false)) && wrote_older;
  }

  bool write(const os::KernelLog& log, std::int64_t start, const std::string& from, bool stale) {
    model::BundleFile facts;
    facts.captured_ns = x_tally.context().wall_ns();
    facts.path = x_names.next("kernel", facts.captured_ns, x_place.host.empty() ? "host" : x_place.host,
                              stale ? "-before.log" : ".log");
    facts.note = log.cut ? from + ", the last " + std::to_string(log.records.size()) + " records" : from;
    facts.stale = stale;
    return x_tally.keep(kernel_log_text(log, x_place.host, start), std::move(facts));
  }

  const KernelLogPlace& x_place;
  CaptureNames& x_names;
  SourceTally x_tally;
};

}  // namespace

std::string kernel_log_text(const os::KernelLog& log, const std::string& host, std::int64_t clock_start_ns) {
  std::string text;
  for (const os::KernelRecord& record : log.records) {
    constexpr std::size_t kMicroseconds = 26;                // "2026-02-18T08:50:00.123456"
    constexpr std::int64_t kLatest = 1'000'000'000'000'000;  // 31 years: no kernel has run longer
    const std::int64_t since = std::clamp<std::int64_t>(record.since_start_us, 0, kLatest);
    std::string time = base::utc_text(clock_start_ns + since * 1000);
    if (time.size() > kMicroseconds) time.resize(kMicroseconds);
    text += time + "+00:00 " + (host.empty() ? "host" : host) + " kernel: " + base::redact_line(record.text) +
            "\n";
  }
  return text;
}

CaptureSource kernel_log_source(std::string id, KernelLogPlace place, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "kernel_log";
  source.asked_kind = "path";
  source.asked = place.device;
  source.run = [place = std::move(place), names = std::move(names)](CaptureContext& context) {
    return KernelLogKeeper(place, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
