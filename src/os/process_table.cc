// SPDX-License-Identifier: Apache-2.0
#include "os/process_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <unistd.h>

namespace unhang::os {
namespace {

constexpr std::uint64_t kMaxSmallFile = 64 << 10;
constexpr std::uint64_t kMaxCommandLine = 256 << 10;
constexpr std::uint64_t kMaxEnvironment = 1 << 20;
constexpr std::uint64_t kMaxMaps = 32 << 20;
constexpr std::size_t kMaxVariables = 1000;
constexpr std::size_t kMaxLibraries = 100;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Calls `visit` for each piece between separators; an unfinished last one counts.
template <class Visit>
void each_piece(std::string_view text, char separator, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> out;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const auto value = number(text.substr(at, end - at));
    if (!value) break;
    out.push_back(*value);
    at = end;
  }
  return out;
}

// The line of `name` in /proc/PID/status, without the name.
std::string_view status_line(std::string_view status, std::string_view name) {
  std::string_view found;
  each_piece(status, '\n', [&](std::string_view line) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
      found = line.substr(name.size() + 1);
  });
  return found;
}

constexpr int kParent = 4, kStartTime = 22;  // the latter in clock ticks since boot

// A field of /proc/PID/stat, counted from 1. The second is a name in brackets that may hold anything, also
// brackets and blanks.
std::optional<std::int64_t> stat_field(std::string_view stat, int wanted) {
  const std::size_t close = stat.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  constexpr int kAfterName = 3;
  int field = kAfterName;
  std::optional<std::int64_t> value;
  each_piece(stat.substr(std::min(close + 2, stat.size())), ' ', [&](std::string_view piece) {
    if (field++ == wanted) value = number(piece);
  });
  return value;
}

// "btime 1764400000" of /proc/stat: when the machine was started, in seconds.
std::optional<std::int64_t> boot_seconds(std::string_view stat) {
  std::optional<std::int64_t> seconds;
  each_piece(stat, '\n', [&](std::string_view line) {
    if (line.starts_with("btime ")) seconds = number(line.substr(6));
  });
  return seconds;
}

// What is read of each process; the order of the requests.
enum Part : std::size_t { kStat, kStatus, kCommandLine, kNamespace, kEnviron, kMaps, kParts };
constexpr std::array<std::string_view, kParts> kPartNames{"stat",   "status",  "cmdline",
                                                          "ns/mnt", "environ", "maps"};

class Collector {
 public:
  Collector(const ProcessTableOptions& options, std::optional<std::int64_t> boot)
      : x_options(options), x_boot(boot) {}

  void take(std::int64_t pid, Part part, const ReadReply& reply, std::string_view bytes) {
    if (part == kStat) {
      x_process = Process{};
      x_process.pid = pid;
      x_process.root = x_options.proc + "/" + std::to_string(pid) + "/root";
      x_process.namespace_pids = {pid};
      x_alive = reply.usable();
    }
    if (!x_alive) return;
    if (reply.usable()) {
      read_part(part, bytes);
    } else {
      x_process.not_readable.push_back(std::string(kPartNames[part]) + ": " + reason_text(reply));
    }
    if (part == kMaps) finish();
  }

  std::vector<Process> processes;

 private:
  void read_part(Part part, std::string_view bytes) {
    switch (part) {
      case kStat: {
        const std::size_t open = bytes.find('('), close = bytes.rfind(')');
        if (open != std::string_view::npos && close != std::string_view::npos && close > open)
          x_process.name = bytes.substr(open + 1, close - open - 1);
        const char state =
            close == std::string_view::npos || close + 2 >= bytes.size() ? '?' : bytes[close + 2];
        x_process.has_ended = x_options.dead && (state == 'Z' || state == 'X');
        x_process.parent = stat_field(bytes, kParent);
        const auto ticks = stat_field(bytes, kStartTime);
        const long per_second = ::sysconf(_SC_CLK_TCK);
        constexpr std::int64_t kLargest = std::int64_t{1} << 40;
        if (ticks && x_boot && per_second > 0 && *ticks >= 0 && *ticks < kLargest)
          x_process.started_ns = *x_boot * 1'000'000'000 + *ticks * (1'000'000'000 / per_second);
        break;
      }
      case kStatus: {
        const auto users = numbers_of(status_line(bytes, "Uid"));
        if (!users.empty()) x_process.user = users.front();
        auto pids = numbers_of(status_line(bytes, "NSpid"));
        if (!pids.empty()) x_process.namespace_pids = std::move(pids);
        x_kernel_thread = !bytes.empty() && status_line(bytes, "VmSize").empty();
        break;
      }
      case kCommandLine:
        each_piece(bytes, '\0', [&](std::string_view word) { x_process.command_line.emplace_back(word); });
        break;
      case kNamespace:
        x_process.mount_namespace = bytes;
        break;
      case kEnviron:
        read_environment(bytes);
        break;
      case kMaps:
        read_maps(bytes);
        break;
      case kParts:
        break;
    }
  }

  void read_environment(std::string_view bytes) {
    x_process.environment_known = true;
    each_piece(bytes, '\0', [&](std::string_view entry) {
      const std::size_t equals = entry.find('=');
      if (equals == std::string_view::npos || x_process.environment.size() >= kMaxVariables) return;
      if (matches_variable(entry.substr(0, equals), x_options.variables))
        x_process.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    });
    // Of a name that is there twice getenv finds the first.
    auto& list = x_process.environment;
    const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
    const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
    std::stable_sort(list.begin(), list.end(), by_name);
    list.erase(std::unique(list.begin(), list.end(), same_name), list.end());
  }

  void read_maps(std::string_view bytes) {
    x_process.libraries_known = true;
    auto& libraries = x_process.libraries;
    each_piece(bytes, '\n', [&](std::string_view line) {
      const std::size_t path = line.find('/');
      if (path == std::string_view::npos || libraries.size() >= kMaxLibraries) return;
      const std::string_view file = line.substr(path);
      const std::string_view name = file.substr(file.rfind('/') + 1);
      const bool wanted = std::any_of(x_options.library_names.begin(), x_options.library_names.end(),
                                      [&](const std::string& begin) { return name.starts_with(begin); });
      if (wanted && std::find(libraries.begin(), libraries.end(), file) == libraries.end())
        libraries.emplace_back(file);
    });
    std::sort(libraries.begin(), libraries.end());
  }

  void finish() {
    if (x_kernel_thread && x_process.command_line.empty() && !x_process.has_ended) return;
    processes.push_back(std::move(x_process));
  }

  const ProcessTableOptions& x_options;
  std::optional<std::int64_t> x_boot;
  Process x_process;
  bool x_alive = false;
  bool x_kernel_thread = false;
};

std::vector<ReadRequest> requests_of(const std::string& proc, const std::vector<std::int64_t>& pids) {
  constexpr std::array<std::uint64_t, kParts> kLimits{kMaxSmallFile, kMaxSmallFile,   kMaxCommandLine,
                                                      kMaxSmallFile, kMaxEnvironment, kMaxMaps};
  std::vector<ReadRequest> requests;
  for (const std::int64_t pid : pids) {
    for (std::size_t part = 0; part < kParts; ++part) {
      requests.push_back({.kind = part == kNamespace ? ReadKind::kLink : ReadKind::kFile,
                          .path = proc + "/" + std::to_string(pid) + "/" + std::string(kPartNames[part]),
                          .max_bytes = kLimits[part],
                          .group = static_cast<std::size_t>(pid)});
    }
  }
  return requests;
}

}  // namespace

const std::string* Process::variable(std::string_view wanted) const {
  const auto at = std::find_if(environment.begin(), environment.end(),
                               [&](const auto& entry) { return entry.first == wanted; });
  return at == environment.end() ? nullptr : &at->second;
}

bool matches_variable(std::string_view name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return name == pattern;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

base::Result<ProcessTable> read_process_table(const ProcessTableOptions& options) {
  constexpr std::uint64_t kMaxNames = 16 << 20;
  const std::vector<ReadRequest> first{
      {.kind = ReadKind::kFolder, .path = options.proc, .max_bytes = kMaxNames, .group = 0},
      {.path = options.proc + "/stat", .max_bytes = 16 << 20, .group = 1}};
  const auto listed = read_in_child(first, options.deadlines);
  if (!listed[0].usable()) {
    return base::fail(base::ErrorCode::kUnavailable,
                      "the processes cannot be listed: " + options.proc + ": " + reason_text(listed[0]));
  }
  std::vector<std::int64_t> pids;
  each_piece(listed[0].bytes, '\0', [&](std::string_view name) {
    if (const auto pid = number(name); pid && *pid > 0) pids.push_back(*pid);
  });
  std::sort(pids.begin(), pids.end());
  ProcessTable table;
  if (pids.size() > options.max_processes) {
    table.notes.push_back("only the first " + std::to_string(options.max_processes) + " of " +
                          std::to_string(pids.size()) + " processes were looked at");
    pids.resize(options.max_processes);
  }

  Collector collector(options, boot_seconds(listed[1].bytes));
  std::string bytes;
  std::size_t stuck = 0, late = 0;
  read_in_child(
      requests_of(options.proc, pids), options.deadlines,
      [&](std::size_t, std::string_view piece) { bytes += piece; },
      [&](std::size_t request, const ReadReply& reply) {
        const auto part = static_cast<Part>(request % kParts);
        if (reply.end == ReadEnd::kStuck) ++stuck;
        if (part == kStat && reply.end == ReadEnd::kNotTried) ++late;
        collector.take(pids[request / kParts], part, reply, bytes);
        bytes.clear();
      });
  table.processes = std::move(collector.processes);
  if (stuck > 0)
    table.notes.push_back(std::to_string(stuck) + " processes stood still while /proc was read of them");
  if (late > 0)
    table.notes.push_back(std::to_string(late) + " processes were not looked at: no time was left");
  return table;
}

}  // namespace unhang::os
