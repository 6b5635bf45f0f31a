// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include "base/parallel.h"
#include "base/printable.h"
#include "base/redaction.h"
#include "base/time_text.h"
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/log_file.h"
#include "cli/log_merge.h"
#include "cli/log_time_flags.h"
#include "cli/side_documents.h"
#include "formats/log/reader.h"
#include "formats/log/time_prefix.h"
#include "os/expand_paths.h"
#include "os/interrupt.h"
#include "report/anonymize.h"

namespace unhang::cli {
namespace {

constexpr int kPollMs = 200;
constexpr std::size_t kLinesOfAllWindows = 1'000'000;
constexpr std::size_t kSmallestWindow = 64;
constexpr std::size_t kBytesAtOnce = 1 << 16;

// A time with a zone, or one in the zone of --tz (else UTC).
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t zone_ns) {
  formats::log::Scanner in(text);
  model::LogTime time;
  if (!formats::log::read_date_time(in, time) || !in.at_end()) return std::nullopt;
  return time.clock == model::LogClock::kUtc ? time.ns : time.ns - zone_ns;
}

// A full date in what a file told; 0: none.
std::int64_t full_date_of(const model::Log& log) {
  const auto full = [](const model::LogTime& time) {
    return time.clock == model::LogClock::kUtc || time.clock == model::LogClock::kLocal;
  };
  if (full(log.first)) return log.first.ns;
  for (const model::LogEvent& event : log.events) {
    if (full(event.first)) return event.first.ns;
  }
  return full(log.last) ? log.last.ns : 0;
}

// Of a document the reason why it is no log; one of prose that was named is one all the same.
base::Result<model::Log> read_whole(const std::string& path, bool is_named) {
  auto file = LogFile::open(path);
  if (!file) return base::fail(file.error());
  os::ByteSource& source = (*file)->source();
  std::string_view block = source.next();
  const auto reason = why_no_log(path, block.substr(0, kBytesAtOnce));
  if (reason && (!is_named || is_json_document(block.substr(0, kBytesAtOnce))))
    return base::fail(base::ErrorCode::kData, path + ": " + std::string(*reason));
  formats::log::LogReader reader;
  for (; !block.empty(); block = source.next()) reader.feed(block);
  return reader.finish();
}

// The last part of each path, or the whole path where two files share it.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::map<std::string, int> seen;
  const auto last = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  for (const std::string& path : paths) ++seen[last(path)];
  std::vector<std::string> names;
  for (const std::string& path : paths)
    names.push_back(base::printable(seen[last(path)] > 1 ? path : last(path)));
  return names;
}

class LogsMergeCommand final : public CommandBase {
 public:
  Command describe() override;
  int run(const std::vector<std::string>& paths, Streams& streams) override;

 private:
  std::optional<std::string> wrong_flags();
  std::vector<model::Log> look_through(const std::vector<std::string>& named, std::vector<std::string>& paths,
                                       Streams& streams);
  void learn_names(const std::vector<model::Log>& logs);
  bool wanted(const LogLine& line) const;
  std::string shown(const std::string& text);
  void add_line(const LogMerge::Item& item);
  void drain(LogMerge& merge, Output& out);
  void follow(LogMerge& merge, Output& out, const os::Interrupt& interrupt);

  std::optional<std::string> x_from_text, x_to_text, x_host;
  std::string x_grep, x_level;
  std::optional<std::int64_t> x_rank, x_from, x_to;
  bool x_follow = false, x_json = false;
  LogTimeFlags x_times;
  LogTimeRules x_rules;
  LogLevel x_least = LogLevel::kUnstated;
  std::vector<std::string> x_names;
  std::vector<std::unique_ptr<LogFile>> x_files;
  std::string x_text;  // lines not yet written
  AnonymizeFlags x_anonymize;
  std::optional<base::AnonymousNames> x_known;  // where names are to be replaced
};

Command LogsMergeCommand::describe() {
  Command command{
      .name = "logs merge",
      .group = "Look at evidence",
      .summary = "put many logs into one stream, ordered by time",
      .description =
          "One line for each line of the logs: time in UTC, host, rank, file, and the message without what "
          "launchers and loggers put in front; '-' is what nobody tells. '~' stands before a time whose zone "
          "is not stated (taken as UTC unless --tz says otherwise), '?' before one that is only a place: of "
          "clocks that count from the start of the machine, and of lines before any time. Dates without a "
          "year get that of --year, of dates near by, or of the file's own time.\n\n"
          "Lines without a time stay behind the line above them, or behind what the same process said last. "
          "Memory does not grow with the files: a file that goes backwards is sorted only within its next "
          "4096 lines (fewer with more than 244 files).",
      .positional = {.placeholder = "PATH…",
                     .help = "logs, folders, compressed logs (gz, zst, bz2, xz) or - for standard input",
                     .minimum = 1,
                     .is_path = true},
      .flags =
          {{.name = "--from", .value = "TIME", .help = "not what was written before", .target = &x_from_text},
           {.name = "--to", .value = "TIME", .help = "not what was written after", .target = &x_to_text},
           {.name = "--host", .value = "H", .help = "lines of this host only", .target = &x_host},
           {.name = "--rank",
            .value = "R",
            .help = "lines of this rank only",
            .target = &x_rank,
            .minimum = 0},
           {.name = "--level",
            .value = "LEVEL",
            .help = "lines that state this level or a worse one",
            .target = &x_level,
            .choices = {"info", "warn", "error"}},
           {.name = "--grep",
            .value = "TEXT",
            .help = "lines whose message holds this text",
            .target = &x_grep},
           {.name = "--follow",
            .short_name = "-f",
            .help = "go on with what is written from now on, until Ctrl-C",
            .target = &x_follow},
           {.name = "--json", .help = "as JSON, one object a line", .target = &x_json, .group = "Output"}},
      .examples = {{"unhang logs merge logs/ --level warn", "What went wrong first, over all files."},
                   {"unhang logs merge -f logs/ --rank 7", "What rank 7 says, as it says it."}},
      .exit_notes = {{kExitOk, "the logs could be read, whatever they tell"}}};
  for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
  for (Flag& flag : log_time_flags(x_times)) command.flags.push_back(std::move(flag));
  return command;
}

std::optional<std::string> LogsMergeCommand::wrong_flags() {
  const auto times = values_of(x_times);
  if (!times) return times.error().message;
  x_rules.zone_ns = times->zone_ns;
  x_rules.year = times->year;
  const std::int64_t zone = x_rules.zone_ns.value_or(0);
  if (x_from_text && !(x_from = parse_time(*x_from_text, zone)))
    return "--from: '" + *x_from_text + "' is no time; write it like 2026-02-18T10:48:25Z";
  if (x_to_text && !(x_to = parse_time(*x_to_text, zone)))
    return "--to: '" + *x_to_text + "' is no time; write it like 2026-02-18T10:48:25Z";
  if (x_level == "info") x_least = LogLevel::kInfo;
  if (x_level == "warn") x_least = LogLevel::kWarn;
  if (x_level == "error") x_least = LogLevel::kError;
  return std::nullopt;
}

// Drops from `paths` what is no log. What standard input tells is not known: it can be read only once.
std::vector<model::Log> LogsMergeCommand::look_through(const std::vector<std::string>& named,
                                                       std::vector<std::string>& paths, Streams& streams) {
  std::vector<model::Log> logs(paths.size());
  std::vector<std::string> faults(paths.size());
  base::parallel_for(paths.size(), 0, [&](std::size_t i, unsigned) {
    if (paths[i] == "-") return;
    auto log = read_whole(paths[i], std::find(named.begin(), named.end(), paths[i]) != named.end());
    if (log) {
      logs[i] = std::move(*log);
    } else {
      faults[i] = log.error().message;
    }
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!faults[i].empty()) {
      streams.err.write("unhang: " + base::printable(faults[i]) + "\n");
      continue;
    }
    if (kept != i) {
      paths[kept] = paths[i];
      logs[kept] = std::move(logs[i]);
    }
    ++kept;
  }
  paths.resize(kept);
  logs.resize(kept);
  return logs;
}

// Of the first look; lines add to them.
void LogsMergeCommand::learn_names(const std::vector<model::Log>& logs) {
  if (!x_anonymize.on) return;
  x_known.emplace(x_anonymize.key.value_or(""));
  for (const model::Log& log : logs) report::learn_names(log, *x_known);
}

std::string LogsMergeCommand::shown(const std::string& text) {
  return base::printable(x_known ? x_known->replace(text) : text);
}

bool LogsMergeCommand::wanted(const LogLine& line) const {
  return (!x_from || line.ns >= *x_from) && (!x_to || line.ns <= *x_to) &&
         (!x_host || line.host == *x_host) && (!x_rank || line.rank == *x_rank) && line.level >= x_least &&
         (x_grep.empty() || line.message.find(x_grep) != std::string::npos);
}

void LogsMergeCommand::add_line(const LogMerge::Item& item) {
  const LogLine& line = item.line;
  const bool timed = line.ns != LogLine::kNoTime;
  // Milliseconds, cut: "2026-02-18T10:48:25.681" of the nine digits.
  const std::string time = timed ? base::utc_text(line.ns).substr(0, 23) + "Z" : "";
  if (x_known) x_known->add_host(line.host);
  const std::string message = shown(base::redact_line(line.message)), host = shown(line.host);
  if (x_json) {
    constexpr std::string_view kPlaces[] = {"stated", "zone_assumed", "unplaced"};
    nlohmann::ordered_json object;
    object["time"] = timed ? nlohmann::ordered_json(time) : nlohmann::ordered_json();
    object["clock"] = kPlaces[static_cast<std::size_t>(line.place)];
    object["host"] = host.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(host);
    object["rank"] = line.rank < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(line.rank);
    object["file"] = x_names[item.file];
    object["line"] = line.number;
    object["message"] = message;
    x_text += object.dump() + "\n";
    return;
  }
  const char* mark = line.place == LogPlace::kStated ? "" : line.place == LogPlace::kZone ? "~" : "?";
  x_text += fmt::format("{}{} {} {} {}: {}\n", mark, time, host.empty() ? "-" : host,
                        line.rank < 0 ? "-" : fmt::format("r{}", line.rank), x_names[item.file], message);
}

void LogsMergeCommand::drain(LogMerge& merge, Output& out) {
  while (out.is_open()) {
    const auto item = merge.next();
    if (!item) break;
    if (!wanted(item->line)) continue;
    add_line(*item);
    if (x_text.size() < kBytesAtOnce) continue;
    out.write(x_text);
    x_text.clear();
  }
  if (!x_text.empty()) out.write(x_text);
  x_text.clear();
}

void LogsMergeCommand::follow(LogMerge& merge, Output& out, const os::Interrupt& interrupt) {
  while (out.is_open() && !interrupt.happened()) {
    pollfd waited{.fd = interrupt.fd(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, kPollMs);
    merge.look_again();
    drain(merge, out);
    for (std::size_t i = 0; i < x_files.size(); ++i) {
      if (x_files[i]->begins_anew()) merge.replace(i, x_files[i]->source());
    }
  }
  merge.finish();
  drain(merge, out);
}

int LogsMergeCommand::run(const std::vector<std::string>& arguments, Streams& streams) {
  if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
  if (const auto wrong = wrong_flags()) return complain(streams, {base::ErrorCode::kUsage, *wrong});
  auto expanded = os::expand_paths(arguments);
  if (!expanded) return complain(streams, expanded.error());
  for (const os::PathNote& note : expanded->notes)
    streams.err.write("unhang: " + base::printable(note.path) + ": " + note.text + "\n");
  std::vector<std::string> paths = std::move(expanded->files);
  if (x_follow && std::find(paths.begin(), paths.end(), "-") != paths.end())
    return complain(streams, {base::ErrorCode::kUsage, "--follow is for files, not for standard input"});
  // All files stay open.
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  std::optional<os::Interrupt> interrupt;
  if (x_follow) interrupt.emplace();

  std::vector<model::Log> logs = look_through(arguments, paths, streams);
  std::vector<std::int64_t> dates;
  for (const model::Log& log : logs) dates.push_back(full_date_of(log));
  learn_names(logs);
  const LogWriters writers(std::move(logs), paths);
  x_names = short_names(paths);
  if (x_known) {
    for (std::string& name : x_names) name = x_known->replace(name);
  }
  LogMerge merge(writers, x_follow);
  const std::size_t window = std::clamp(kLinesOfAllWindows / std::max<std::size_t>(paths.size(), 1),
                                        kSmallestWindow, LogLines::kWindow);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto file = LogFile::open(paths[i]);
    if (!file) return complain(streams, file.error());  // gone since the first look
    LogTimeRules rules = x_rules;
    rules.near_ns = dates[i] != 0 ? dates[i] : (*file)->changed_ns();
    merge.add((*file)->source(), rules, window);
    x_files.push_back(std::move(*file));
  }
  if (x_files.empty())
    return complain(streams, {base::ErrorCode::kData, "none of the inputs is a log that could be read"});
  drain(merge, streams.out);
  if (x_follow) follow(merge, streams.out, *interrupt);
  return kExitOk;
}

}  // namespace

std::unique_ptr<CommandBase> make_logs_merge_command() {
  return std::make_unique<LogsMergeCommand>();
}

}  // namespace unhang::cli
