// SPDX-License-Identifier: Apache-2.0
//
// NCCL's log: how much, where to, with which times.
#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/similar.h"
#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

constexpr std::string_view kFile = "/var/log/nccl/nccl.%h.%p.log";

std::string upper_of(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
  return out;
}

std::string level(const EnvSubject& subject) {
  return upper_of(subject.environment.value("NCCL_DEBUG").value_or(""));
}
bool prints_info(const EnvSubject& subject) {
  const std::string now = level(subject);
  return now == "INFO" || now == "ABORT" || now == "TRACE";
}

// The words of a list; a leading ^ turns it round.
std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> words;
  if (text.starts_with("^")) text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    words.push_back(upper_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}
bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool selects(std::string_view text, std::string_view word) {
  const bool inverted = text.starts_with("^");
  const auto words = list_of(text);
  return (holds(words, word) || holds(words, "ALL")) != inverted;
}

struct Subsystem {
  std::string_view word;
  int since;      // NCCL 2.<since>
  bool in_calls;  // prints in each call; TUNING only on rank 0 of each communicator
};
constexpr std::array kSubsystems{
    Subsystem{"INIT", 0, false},       Subsystem{"COLL", 0, true},         Subsystem{"P2P", 0, false},
    Subsystem{"SHM", 0, false},        Subsystem{"NET", 0, false},         Subsystem{"GRAPH", 0, false},
    Subsystem{"TUNING", 0, true},      Subsystem{"ENV", 0, false},         Subsystem{"ALLOC", 0, false},
    Subsystem{"CALL", 0, true},        Subsystem{"PROXY", 0, true},        Subsystem{"NVLS", 0, false},
    Subsystem{"BOOTSTRAP", 23, false}, Subsystem{"REG", 0, false},         Subsystem{"PROFILE", 0, false},
    Subsystem{"RAS", 24, false},       Subsystem{"ALLOC_HOST", 30, false}, Subsystem{"DESTROY", 30, false},
    Subsystem{"ALL", 0, false}};

const Subsystem* find_subsystem(std::string_view word) {
  const auto at = std::find_if(kSubsystems.begin(), kSubsystems.end(),
                               [&](const Subsystem& subsystem) { return subsystem.word == word; });
  return at == kSubsystems.end() ? nullptr : &*at;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

// What costs nothing worth measuring, of those that this release knows.
std::string quiet_subsystems(const EnvSubject& subject) {
  std::vector<std::string> words;
  for (const std::string_view word : {"INIT", "BOOTSTRAP", "ENV", "NET", "GRAPH", "RAS"}) {
    if (subject.software.nccl_since(find_subsystem(word)->since)) words.emplace_back(word);
  }
  return joined(words);
}

// The list that is set with INIT and ENV in it, without what this release does not know, and where
// `quieter`, without what prints in each call. Nothing else that was asked for goes.
std::string mended_subsystems(const EnvSubject& subject, std::string_view value, bool quieter) {
  const bool inverted = value.starts_with("^");
  const auto set = list_of(value);
  if (quieter && (inverted || holds(set, "ALL"))) return quiet_subsystems(subject);
  if (!inverted && holds(set, "ALL")) return "ALL";
  if (inverted) {
    std::vector<std::string> without;
    for (const std::string& word : set) {
      const Subsystem* subsystem = find_subsystem(word);
      const bool needed = word == "INIT" || word == "ENV" || word == "ALL";
      if (subsystem != nullptr && subject.software.nccl_since(subsystem->since) && !needed)
        without.push_back(word);
    }
    return without.empty() ? quiet_subsystems(subject) : "^" + joined(without);
  }
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (!holds(words, word)) words.emplace_back(word);
  };
  for (const std::string_view needed : {"INIT", "ENV"}) {
    if (!holds(set, needed)) add(needed);
  }
  std::vector<std::string_view> known;
  for (const Subsystem& subsystem : kSubsystems) {
    if (subsystem.word != "ALL") known.push_back(subsystem.word);
  }
  for (const std::string& word : set) {
    const Subsystem* subsystem = find_subsystem(word);
    if (subsystem == nullptr) {
      const auto near = base::similar_words(word, known, 1);
      if (!near.empty()) subsystem = find_subsystem(near.front());
    }
    if (subsystem == nullptr || !subject.software.nccl_since(subsystem->since)) continue;
    if (!quieter || !subsystem->in_calls) add(subsystem->word);
  }
  return joined(words);
}

Outcomes trace(const EnvSubject& subject) {
  const Variable* debug = subject.environment.find("NCCL_DEBUG");
  if (debug == nullptr || !debug->known) return not_applicable();
  if (level(subject) != "TRACE") return passed();
  return {about(Status::kFail, *debug,
                "NCCL_DEBUG=TRACE is left on: it writes lines for every step of every collective",
                set_line(subject, "NCCL_DEBUG", "INFO"))};
}

// A log as an incident needs it. What is set beside it stays as it is.
std::string lines_of_a_log(const EnvSubject& subject) {
  std::string lines = set_line(subject, "NCCL_DEBUG", "INFO");
  const Variable* subsystems = subject.environment.find("NCCL_DEBUG_SUBSYS");
  if (subsystems == nullptr)
    lines += "\n" + set_line(subject, "NCCL_DEBUG_SUBSYS", quiet_subsystems(subject));
  if (!subject.environment.has("NCCL_DEBUG_FILE"))
    lines += "\n" + set_line(subject, "NCCL_DEBUG_FILE", kFile);
  return lines;
}

Outcomes no_log(const EnvSubject& subject) {
  const Variable* debug = subject.environment.find("NCCL_DEBUG");
  if (debug != nullptr && (!debug->known || (level(subject) != "NONE" && level(subject) != "VERSION")))
    return passed();
  return {{Status::kWarn,
           "NCCL writes no warnings: NCCL_DEBUG is " +
               (debug == nullptr ? std::string("not set") : shown(*debug)),
           lines_of_a_log(subject),
           debug != nullptr ? std::vector<std::string>{debug->where} : std::vector<std::string>{}}};
}

// WARN alone: what a process said when it started is the half of a diagnosis, and was never written.
Outcomes no_start(const EnvSubject& subject) {
  const Variable* debug = subject.environment.find("NCCL_DEBUG");
  if (debug == nullptr || !debug->known) return not_applicable();
  if (prints_info(subject)) return passed();
  if (level(subject) != "WARN") return not_applicable();  // log-off says more
  return {about(Status::kWarn, *debug,
                shown(*debug) + ": NCCL writes warnings, and none of the lines of its start",
                lines_of_a_log(subject))};
}

Outcomes per_call(const EnvSubject& subject) {
  const Variable* subsystems = subject.environment.find("NCCL_DEBUG_SUBSYS");
  if (subsystems == nullptr || !subsystems->known || !prints_info(subject)) return not_applicable();
  std::string found;
  for (const std::string_view word : {"COLL", "CALL", "PROXY", "TUNING", "P2P"}) {
    const bool chatty = word != "P2P" || selects(subsystems->value, "ALL");
    if (chatty && selects(subsystems->value, word)) found += (found.empty() ? "" : ", ") + std::string(word);
  }
  if (found.empty()) return passed();
  return {about(Status::kWarn, *subsystems,
                shown(*subsystems) + ": " + found +
                    (found.find(',') == std::string::npos ? " writes" : " write") + " lines in every call",
                set_line(subject, subsystems->name, mended_subsystems(subject, subsystems->value, true)))};
}

Outcomes subsystems(const EnvSubject& subject) {
  const Variable* variable = subject.environment.find("NCCL_DEBUG_SUBSYS");
  if (variable == nullptr || !variable->known || variable->value.empty()) return not_applicable();
  Outcomes outcomes;
  const std::string fix =
      set_line(subject, variable->name, mended_subsystems(subject, variable->value, false));
  for (const std::string& word : list_of(variable->value)) {
    const Subsystem* known = find_subsystem(word);
    if (known != nullptr && subject.software.nccl_since(known->since)) continue;
    outcomes.push_back(
        about(Status::kWarn, *variable,
              known == nullptr ? "'" + base::printable(word) + "' is no subsystem of NCCL: it is passed over"
                               : "the subsystem " + word + " came with NCCL 2." +
                                     std::to_string(known->since) + ": it is passed over",
              fix));
  }
  if (!selects(variable->value, "INIT") || !selects(variable->value, "ENV")) {
    outcomes.push_back(
        about(Status::kWarn, *variable, shown(*variable) + ": the defaults INIT and ENV are gone", fix));
  }
  return outcomes.empty() ? passed() : outcomes;
}

Outcomes file_name(const EnvSubject& subject) {
  const Variable* file = subject.environment.find("NCCL_DEBUG_FILE");
  if (file == nullptr || !file->known || file->value.empty()) return not_applicable();
  const std::string& path = file->value;
  if (path == "/dev/stdout" || path == "/dev/stderr" || path == "stdout" || path == "stderr") return passed();
  const bool has_pid = path.find("%p") != std::string::npos, has_host = path.find("%h") != std::string::npos;
  Outcomes outcomes;
  if (!has_pid) {
    outcomes.push_back(about(Status::kFail, *file,
                             shown(*file) + ": one file for all ranks, and each that opens it empties it",
                             set_line(subject, file->name, kFile)));
  } else if (!has_host) {
    outcomes.push_back(about(Status::kWarn, *file,
                             shown(*file) + ": process ids repeat on other hosts and in containers",
                             set_line(subject, file->name, kFile)));
  }
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 2)) {
    const char next = at + 1 < path.size() ? path[at + 1] : ' ';
    if (next == 'h' || next == 'p' || next == '%') continue;
    outcomes.push_back(
        about(Status::kWarn, *file,
              shown(*file) + ": NCCL knows %h and %p only; '%" + std::string(1, next) + "' stays as it is",
              set_line(subject, file->name, kFile)));
    break;
  }
  if (path.front() != '/') {
    outcomes.push_back(about(
        Status::kWarn, *file,
        shown(*file) +
            (path.front() == '~' ? ": a ~ is not expanded" : ": below whatever folder the process is in"),
        set_line(subject, file->name, kFile)));
  }
  return outcomes.empty() ? passed() : outcomes;
}

Outcomes file_unused(const EnvSubject& subject) {
  const Variable* file = subject.environment.find("NCCL_DEBUG_FILE");
  const Variable* debug = subject.environment.find("NCCL_DEBUG");
  if (file == nullptr || (debug != nullptr && !debug->known)) return not_applicable();
  const std::string now = level(subject);
  if (now == "WARN" || now == "INFO" || now == "ABORT" || now == "TRACE") return passed();
  return {about(Status::kWarn, *file,
                "NCCL_DEBUG_FILE is set, and NCCL_DEBUG lets nothing be written into it",
                set_line(subject, "NCCL_DEBUG", "INFO"))};
}

Outcomes no_times(const EnvSubject& subject) {
  if (!prints_info(subject) || !subject.software.nccl_since(26)) return not_applicable();
  const Variable* levels = subject.environment.find("NCCL_DEBUG_TIMESTAMP_LEVELS");
  if (levels != nullptr && (!levels->known || selects(levels->value, "INFO"))) {
    const Variable* format = subject.environment.find("NCCL_DEBUG_TIMESTAMP_FORMAT");
    if (format == nullptr || !format->known || !format->value.empty()) return passed();
    return {about(Status::kWarn, *format, "an empty format means that no line has a time",
                  removal(subject, format->name))};
  }
  return {{Status::kWarn, "only warnings have a time; INFO lines have none",
           set_line(subject, "NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL"),
           levels != nullptr ? std::vector<std::string>{levels->where} : std::vector<std::string>{}}};
}

Outcomes local_times(const EnvSubject& subject) {
  if (!prints_info(subject) || !subject.software.nccl_since(26)) return not_applicable();
  const Variable* zone = subject.environment.find("TZ");
  if (zone != nullptr && (!zone->known || zone->value == "UTC" || zone->value == "UTC0" ||
                          zone->value == "Etc/UTC" || zone->value == "GMT"))
    return passed();
  return {{Status::kWarn,
           "times in NCCL's log are local and without a zone; TZ is " +
               (zone == nullptr ? std::string("not set") : shown(*zone)),
           set_line(subject, "TZ", "UTC"),
           zone != nullptr ? std::vector<std::string>{zone->where} : std::vector<std::string>{}}};
}

// 2.26.x divides nanoseconds wrongly: leading zeros of the digits are lost.
Outcomes sub_seconds(const EnvSubject& subject) {
  const Variable* format = subject.environment.find("NCCL_DEBUG_TIMESTAMP_FORMAT");
  if (format == nullptr || !format->known || !subject.software.nccl_since(26) ||
      subject.software.nccl_since(27))
    return not_applicable();
  const std::size_t at = format->value.find("f");
  if (at == std::string::npos || at < 2 || format->value[at - 2] != '%') return passed();
  return {about(Status::kWarn, *format, "NCCL 2.26 prints wrong fractions of seconds",
                set_line(subject, format->name, "[%F_%T]_"))};
}

Outcomes dedup(const EnvSubject& subject) {
  if (subject.software.engine != Engine::kVllm) return not_applicable();
  const Variable* ray = subject.environment.find("RAY_DEDUP_LOGS");
  if (ray == nullptr) return not_applicable();  // only Ray's logs have it, and not every vLLM runs on Ray
  if (!ray->known || ray->value == "0") return passed();
  return {about(Status::kWarn, *ray, shown(*ray) + ": lines of all ranks but one are left out",
                set_line(subject, ray->name, "0"))};
}

constexpr Check<EnvSubject> kRules[] = {
    {"trace-on", "NCCL_DEBUG is not TRACE", "It slows every call down and fills the disk.", &trace},
    {"log-off", "NCCL may write warnings",
     "NCCL's own words often name the cause, and cannot be switched on in a process that hangs.", &no_log},
    {"log-no-start", "NCCL writes what it finds when it starts",
     "Who is which rank, on which interface and path stands in those lines only, and a process that hangs "
     "cannot be told to write them.",
     &no_start},
    {"log-per-call", "no subsystem writes in every call",
     "At thousands of calls a second that is gigabytes an hour for each rank.", &per_call},
    {"log-subsystems", "the subsystems are known and hold INIT and ENV",
     "Without them the log does not say who is who and which settings were in force.", &subsystems},
    {"log-file", "each process has a log file of its own",
     "NCCL opens its file for writing from the start: what others wrote is lost.", &file_name},
    {"log-file-unused", "the log file is written", "The file stays empty.", &file_unused},
    {"log-times-none", "lines of the log have a time", "Without times, ranks cannot be compared.", &no_times},
    {"log-times-local", "times of the log are UTC",
     "Logs of nodes in different zones, or with a wrong one, cannot be put in order.", &local_times},
    {"log-times-wrong", "fractions of seconds are right", "The order of lines comes out wrong.",
     &sub_seconds},
    {"ray-dedup", "Ray leaves the lines of all ranks",
     "The rank that did not write a line cannot be told from those whose line was left out.", &dedup},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_logs() {
  return kRules;
}

}  // namespace unhang::checks
