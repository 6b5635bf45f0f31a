// SPDX-License-Identifier: Apache-2.0
#include "report/log_warnings.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/json_stream.h"
#include "report/log_times.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::LogClock;
using model::LogEvent;
using model::LogEventKind;
using model::LogRole;
using model::LogTime;

constexpr std::size_t kTimeOfDay = 12;  // "10:51:23.100"
constexpr int kSubjectColumns = 40;
constexpr int kRankColumns = 30;

// The kind's name in the spelling of the field: "CUDA out of memory".
std::string name_words(LogEventKind kind) {
  constexpr std::pair<std::string_view, std::string_view> kSpelled[] = {
      {"acs", "ACS"},   {"cuda", "CUDA"},   {"ecc", "ECC"},     {"gid", "GID"},   {"gpu", "GPU"},
      {"hca", "HCA"},   {"iommu", "IOMMU"}, {"mnnvl", "MNNVL"}, {"nccl", "NCCL"}, {"nvlink", "NVLink"},
      {"nvls", "NVLS"}, {"pcie", "PCIe"},   {"ras", "RAS"}};
  std::string out;
  std::string_view rest = model::name_of(kind);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    std::string_view word = rest.substr(0, end);
    for (const auto& [plain, spelled] : kSpelled) {
      if (word == plain) word = spelled;
    }
    if (!out.empty()) out += ' ';
    out += word;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// What happened, with its number where the number says what.
std::string head_words(const LogEvent& event) {
  const std::string name = name_words(event.kind);
  const std::int64_t code = event.code;
  switch (event.kind) {
    case LogEventKind::kCompletionError:
      return fmt::format("NET/IB status {}", code);
    case LogEventKind::kXid:
      return fmt::format("Xid {}", code);
    case LogEventKind::kSxid:
      return fmt::format("SXid {}", code);
    case LogEventKind::kCudaError:
      return code > 0 ? fmt::format("CUDA error {}", code) : "CUDA error";
    case LogEventKind::kNvlsFailed:
      return code > 0 ? fmt::format("{} (CUDA error {})", name, code) : name;
    case LogEventKind::kConnectFailed:
    case LogEventKind::kConnectRetry:
    case LogEventKind::kConnectionReset:
    case LogEventKind::kSharedMemoryFailed:
    case LogEventKind::kDeviceNotAccessible:
    case LogEventKind::kMemoryLock:
    case LogEventKind::kQueuePairFailed:
    case LogEventKind::kStoreUnreachable:
      return code > 0 ? fmt::format("{} (errno {})", name, code) : name;
    case LogEventKind::kProcessExit:
      return fmt::format("{} {}", name, code);
    case LogEventKind::kFatalSignal:
    case LogEventKind::kProcessSignalled:
    case LogEventKind::kDataWorkerKilled:
      return code > 0 ? fmt::format("{} {}", name, code) : name;
    case LogEventKind::kNcclError:
    case LogEventKind::kUnwinding:
      return code > 0 ? fmt::format("{} (ncclResult {})", name, code) : name;
    case LogEventKind::kWatchdogStuck:
    case LogEventKind::kEngineWaitsForWorker:
    case LogEventKind::kEngineWatchdog:
    case LogEventKind::kHungTask:
      return code > 0 ? fmt::format("{} ({} s)", name, code) : name;
    case LogEventKind::kGlooTimeout:
      return code > 0 ? fmt::format("{} ({} ms)", name, code) : name;
    default:
      return name;
  }
}

// "2026-11-30", "11-30"; empty: the clock has no days.
std::string date_words(const LogTime& time) {
  const std::string text = log_time_text(time);
  const std::size_t t = time.clock == LogClock::kUptime ? std::string::npos : text.find('T');
  return t == std::string::npos ? "" : text.substr(0, t);
}

// "10:51:23.1Z" where the zone is stated, "10:51:23.1" where it is not, "line 7" without a time.
std::string time_words(const LogTime& time, std::uint64_t line, bool with_date) {
  if (!time.known()) return fmt::format("line {}", line);
  std::string text = log_time_text(time);
  const std::string date = date_words(time);
  if (date.empty()) return text;
  text = text.substr(date.size() + 1, kTimeOfDay);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  if (text.back() == ':') text += "00";
  if (time.clock == LogClock::kUtc) text += 'Z';
  return with_date ? date + " " + text : text;
}

bool of_several_days(const LogWarnings& found) {
  std::set<std::string> days;
  const auto add = [&](const LogTime& time) {
    if (std::string day = date_words(time); !day.empty()) days.insert(std::move(day));
  };
  for (const LogWarning& row : found.rows) add(row.first);
  for (const LogTimeout& row : found.timeouts) add(row.first);
  return days.size() > 1;
}

const std::string& path_of(const model::Case& joined, std::uint32_t input) {
  static const std::string kUnknown;
  return input < joined.inputs.size() ? joined.inputs[input].path : kUnknown;
}

std::string ranks_words(const std::vector<std::int32_t>& ranks, std::string_view what = "rank") {
  return fmt::format("{}{} {}", what, ranks.size() == 1 ? "" : "s", fold_within(ranks, kRankColumns));
}

std::string timeout_sentence(const LogTimeout& row, bool with_date) {
  const model::WatchdogTimeout& timeout = *row.timeout;
  std::string text =
      "time-out of " + (timeout.operation.empty() ? "an operation" : one_line(timeout.operation));
  if (timeout.sequence >= 0) text += fmt::format(" #{}", timeout.sequence);
  if (!row.group.empty()) text += " in " + one_line(row.group);
  text += ": " + counted(row.reporters, "rank", "ranks") + " gave up";
  if (!row.ranks.empty())
    text += " (" + ranks_words(row.ranks, row.ranks_of_group ? "group rank" : "rank") + ")";
  if (row.collapsed > 0)
    text += fmt::format(", and {} more that a collector left out", grouped(row.collapsed));
  text += ", first " + time_words(row.first, timeout.line, with_date);
  if (timeout.timeout_ms > 0)
    text += fmt::format(", after {:g} s", static_cast<double>(timeout.timeout_ms) / 1000);
  return text;
}

void add_wrapped(std::string& out, std::string_view mark, const std::string& text, int width) {
  bool first = true;
  for (const std::string& line : wrap(text, width - 2)) {
    out += first ? std::string(mark) : "  ";
    out += line + "\n";
    first = false;
  }
}

// "  ranks 4-7 · b.log line 12: what stands there", one line.
void add_quotation(std::string& out, std::vector<std::string> facts, const std::string& path,
                   std::uint64_t line, std::string_view text, int width) {
  facts.push_back(fmt::format("{} line {}", cut_front(path, width / 3), line));
  std::string all;
  for (const std::string& fact : facts) all += (all.empty() ? "" : " · ") + fact;
  if (!text.empty()) all += ": " + one_line(text);
  out += "  " + cut(all, width - 2) + "\n";
}

std::string_view heading_of(LogRole role) {
  switch (role) {
    case LogRole::kCause:
      return "causes";
    case LogRole::kEither:
      return "causes or consequences";
    case LogRole::kConsequence:
      return "consequences";
    case LogRole::kNote:
      return "notes";
    case LogRole::kNormal:
      break;
  }
  return "";
}

std::string_view role_name(LogRole role) {
  switch (role) {
    case LogRole::kCause:
      return "cause";
    case LogRole::kEither:
      return "either";
    case LogRole::kConsequence:
      return "consequence";
    case LogRole::kNote:
      return "note";
    case LogRole::kNormal:
      break;
  }
  return "normal";
}

template <class List, class Write>
void add_list(JsonStream& json, std::string_view key, const List& list, Write write) {
  json.raw(",\"").raw(key).raw("\":[");
  bool first = true;
  for (const auto& item : list) {
    if (!first) json.raw(",");
    first = false;
    write(item);
  }
  json.raw("]");
}

void add_warning(JsonStream& json, const LogWarning& row, const model::Case& joined) {
  const LogEvent& event = *row.event;
  json.raw("{\"kind\":").text(model::name_of(event.kind)).raw(",\"role\":").text(role_name(row.role));
  json.raw(",\"count\":").number(static_cast<std::int64_t>(row.count)).raw(",\"code\":").number(event.code);
  json.raw(",\"subject\":").text_or_null(event.subject).raw(",\"peer\":").text_or_null(event.peer);
  json.raw(",\"detail\":").text_or_null(event.detail);
  std::vector<std::string> hosts;
  if (!row.host.empty()) hosts.push_back(row.host);
  add_list(json, "hosts", hosts, [&](const std::string& host) { json.text(host); });
  add_list(json, "ranks", row.ranks, [&](std::int32_t rank) { json.number(rank); });
  json.raw(",\"first\":").text_or_null(log_time_text(row.first));
  json.raw(",\"last\":").text_or_null(log_time_text(row.last));
  json.raw(",\"file\":").text(path_of(joined, event.input));
  json.raw(",\"line\":").number(static_cast<std::int64_t>(event.line));
  json.raw(",\"text\":").text(event.text).raw("}");
}

void add_timeout(JsonStream& json, const LogTimeout& row, const model::Case& joined) {
  const model::WatchdogTimeout& timeout = *row.timeout;
  const auto known = [](std::int64_t value) {
    return value >= 0 ? std::optional<std::int64_t>(value) : std::nullopt;
  };
  json.raw("{\"group\":").text_or_null(row.group).raw(",\"operation\":").text_or_null(timeout.operation);
  json.raw(",\"sequence\":").number_or_null(known(timeout.sequence));
  json.raw(",\"rank_count\":").number(static_cast<std::int64_t>(row.reporters));
  add_list(json, "ranks", row.ranks, [&](std::int32_t rank) { json.number(rank); });
  json.raw(",\"ranks_of\":").text(row.ranks_of_group ? "group" : "world");
  json.raw(",\"left_out\":").number(row.collapsed);
  add_list(json, "hosts", row.hosts, [&](const std::string& host) { json.text(host); });
  json.raw(",\"timeout_ms\":").number_or_null(known(timeout.timeout_ms));
  json.raw(",\"first\":").text_or_null(log_time_text(row.first));
  json.raw(",\"last\":").text_or_null(log_time_text(row.last));
  json.raw(",\"file\":").text(path_of(joined, timeout.input));
  json.raw(",\"line\":").number(static_cast<std::int64_t>(timeout.line)).raw("}");
}

}  // namespace

std::string log_warning_sentence(const LogWarning& row, bool with_date) {
  const LogEvent& event = *row.event;
  std::string text = head_words(event);
  if (!event.subject.empty()) text += " " + cut(event.subject, kSubjectColumns);
  if (row.count > 1) text += " x " + grouped(static_cast<std::int64_t>(row.count));
  text += (row.count > 1 ? ", first " : ", ") + time_words(row.first, event.line, with_date);
  if (!row.host.empty()) text += " " + one_line(row.host);
  if (!event.peer.empty()) text += " -> " + one_line(peer_without_port(event.peer));
  return text;
}

std::string render_log_warnings(const LogWarnings& found, const model::Case& joined, bool all, int width) {
  const bool with_date = of_several_days(found);
  const bool something_earlier =
      !found.timeouts.empty() || (!found.rows.empty() && found.rows.front().role > LogRole::kConsequence);
  std::string out;
  std::size_t folded = 0, notes = 0;
  LogRole shown = LogRole::kNormal;
  const auto add_timeouts = [&] {
    if (!found.timeouts.empty()) out += "time-outs of the watchdog\n";
    for (const LogTimeout& row : found.timeouts) {
      add_wrapped(out, "? ", timeout_sentence(row, with_date), width);
      add_quotation(out, {}, path_of(joined, row.timeout->input), row.timeout->line, "", width);
    }
  };
  bool timeouts_shown = false;
  for (const LogWarning& row : found.rows) {
    // Between what may have come before them and what came after.
    if (row.role < LogRole::kEither && !timeouts_shown) {
      add_timeouts();
      timeouts_shown = true;
    }
    if (row.role == LogRole::kConsequence && !all && something_earlier) {
      ++folded;
      continue;
    }
    if (row.role == LogRole::kNote && !all) {
      ++notes;
      continue;
    }
    if (row.role != shown) out += std::string(heading_of(row.role)) + "\n";
    shown = row.role;
    const std::string_view mark = row.role == LogRole::kCause    ? "! "
                                  : row.role == LogRole::kEither ? "? "
                                                                 : "  ";
    add_wrapped(out, mark, log_warning_sentence(row, with_date), width);
    std::vector<std::string> facts;
    if (!row.ranks.empty()) facts.push_back(ranks_words(row.ranks));
    add_quotation(out, std::move(facts), path_of(joined, row.event->input), row.event->line, row.event->text,
                  width);
  }
  if (!timeouts_shown) add_timeouts();
  if (out.empty()) out = "no warning stands in these logs\n";
  if (folded > 0) {
    add_wrapped(out, "",
                fmt::format("and {}: --all shows {}", counted(folded, "consequence", "consequences"),
                            folded == 1 ? "it" : "them"),
                width);
  } else if (notes > 0 && found.rows.front().role == LogRole::kNote && found.timeouts.empty()) {
    out += counted(notes, "note", "notes") + ": --all shows " + (notes == 1 ? "it\n" : "them\n");
  }
  if (joined.logs.forgotten > 0)
    add_wrapped(
        out, "",
        counted(joined.logs.forgotten, "more fact was", "more facts were") + " beyond the bounds of memory",
        width);
  return out;
}

std::string log_warnings_json(const LogWarnings& found, const model::Case& joined, bool all) {
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw(R"({"schema":"unhang.log_warnings/1","warnings":[)");
  bool first = true;
  for (const LogWarning& row : found.rows) {
    if (row.role == LogRole::kNote && !all) continue;
    if (!first) json.raw(",");
    first = false;
    add_warning(json, row, joined);
  }
  json.raw("]");
  add_list(json, "timeouts", found.timeouts, [&](const LogTimeout& row) { add_timeout(json, row, joined); });
  json.raw("}\n").flush();
  return out;
}

}  // namespace unhang::report
