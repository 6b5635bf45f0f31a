// SPDX-License-Identifier: Apache-2.0
//
// The services that make one NVLink fabric of many GPUs: the fabric manager, NVLink's subnet manager, IMEX;
// their own logs and what systemd says of them.
#include <array>
#include <utility>
#include <vector>

#include "formats/log/families.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::string_view kTriggers[] = {"fabricmanager", "abric manager", "abric Manager",
                                          "NVSwitch",      "[tid ",         "NV_WARN_NOTHING_TO_DO",
                                          "nvidia-imex",   "nvlsm",         "NVLSM",
                                          "Fabric State",  "Domain State:"};

constexpr int kStatusLines = 8;  // of `systemctl status` from the name of the unit to "Active:"
constexpr std::size_t kHeldBack = 64;

// "nvidia-fabricmanager", "nvidia-imex", "nvlsm", or nothing.
std::string_view service_in(std::string_view text) {
  if (has(text, "nvidia-imex")) return "nvidia-imex";
  if (has(text, "fabricmanager") || has(text, "abric manager") || has(text, "abric Manager")) {
    return "nvidia-fabricmanager";
  }
  if (has(text, "nvlsm") || has(text, "NVLSM")) return "nvlsm";
  return {};
}

LogEvent event(LogEventKind kind, std::string_view subject, std::string_view detail = {}) {
  LogEvent out;
  out.kind = kind;
  out.subject = shown(subject);
  out.detail = shown(detail);
  return out;
}

// "[Apr 01 2026 10:00:00]", as only these services write it.
bool has_their_date(std::string_view text) {
  const std::size_t at = text.find('[');
  if (at == std::string_view::npos || text.size() < at + 13) return false;
  const std::string_view date = text.substr(at + 1, 12);
  return date[3] == ' ' && date[6] == ' ' && all_digits(date.substr(4, 2)) && all_digits(date.substr(7, 4)) &&
         date[11] == ' ';
}

class FabricManagerFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }
  bool open() const override { return x_status_lines > 0; }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone) return false;
    if (x_status_lines > 0) {
      --x_status_lines;
      if (take_status(line, facts)) return true;
    }
    const std::string_view text = line.message;
    if (has(text, "NV_WARN_NOTHING_TO_DO")) {
      // No NVSwitch in this machine: the service ends, and nothing is wrong.
      x_no_switches = true;
      return true;
    }
    return take_switch_error(line, facts) || take_ready(line, facts) || take_state(line, facts) ||
           take_own_log(line, facts) || take_unit(line, facts);
  }

  void finish(Facts& facts) override {
    if (!x_no_switches) {
      for (auto& [what, line] : x_held_back) facts.add(std::move(what), line);
    }
    x_held_back.clear();
  }

 private:
  bool take_status(const Line& line, Facts& facts) {
    const std::string_view text = trimmed(line.message);
    std::string_view state;
    if (const auto active = behind(text, "Active: ")) {
      state = first_word(*active);
    } else if (x_bare_state) {
      state = text;
      if (state != "inactive" && state != "failed" && state != "active" && state != "unknown") return false;
    } else {
      return false;
    }
    x_status_lines = 0;
    add_state(state, line, facts);
    return true;
  }

  void add_state(std::string_view state, const Line& line, Facts& facts) {
    if (state == "active") {
      facts.add(event(LogEventKind::kFabricManagerReady, x_service), line);
    } else if (state == "failed") {
      hold_back(event(LogEventKind::kFabricManagerError, x_service, "failed"), line, facts);
    } else if (state == "inactive" || state == "unknown") {
      hold_back(event(LogEventKind::kFabricManagerMissing, x_service, state), line, facts);
    }
  }

  // A service that fails where there is nothing for it to do is no fault, and that is often told last.
  void hold_back(LogEvent what, const Line& line, Facts& facts) {
    if (x_held_back.size() >= kHeldBack) {
      if (!x_no_switches) facts.add(std::move(what), line);
      return;
    }
    what.text = shown(line.message);
    Line kept = line;
    kept.whole = kept.message = kept.source_file = {};
    x_held_back.emplace_back(std::move(what), kept);
  }

  // "detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 9 port
  // 63"
  static bool take_switch_error(const Line& line, Facts& facts) {
    const auto detected = behind(line.message, "detected NVSwitch ");
    if (!detected) return false;
    const auto number = behind(*detected, "fatal error ");
    const auto code = number ? leading_number(*number) : std::nullopt;
    if (!code) return false;
    LogEvent sxid = event(LogEventKind::kSxid, pci_address(*number));
    sxid.code = *code;
    sxid.rank = detected->starts_with("non-fatal") ? 0 : 1;
    if (const auto port = behind(*number, " port "))
      sxid.detail = shown("port " + std::string(first_word(*port)));
    facts.add(std::move(sxid), line);
    return true;
  }

  static bool take_ready(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    const bool started = has(text, "Started ") && !service_in(text).empty() && !has(text, "nvlsm");
    if (!has(text, "Successfully configured all the available") && !started) return false;
    const std::string_view service = service_in(text);
    facts.add(event(LogEventKind::kFabricManagerReady, service.empty() ? "nvidia-fabricmanager" : service),
              line);
    return true;
  }

  // "Fabric State : In Progress" on one line; `nvidia-imex-ctl`: "Domain State: DOWN".
  static bool take_state(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (const auto fabric = behind(text, "Fabric State")) {
      const auto value = behind(*fabric, ":");
      if (!value) return false;
      const std::string_view state = trimmed(*value);
      if (state == "In Progress" || state == "Not Started") {
        facts.add(event(LogEventKind::kFabricManagerMissing, {}, state), line);
      } else if (state == "Completed") {
        facts.add(event(LogEventKind::kFabricManagerReady, {}), line);
      } else {
        return state == "Not Supported" || state == "N/A";
      }
      return true;
    }
    if (const auto domain = behind(text, "Domain State:")) {
      const std::string_view state = first_word(*domain);
      if (state != "UP" && state != "DOWN" && state != "DEGRADED") return false;
      if (state != "UP") facts.add(event(LogEventKind::kFabricManagerError, "nvidia-imex", state), line);
      return true;
    }
    return false;
  }

  // The log files of the fabric manager and of IMEX: "[Apr 01 2026 10:00:00] [ERROR] [tid 123] text".
  static bool take_own_log(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    const auto thread = behind(text, "[tid ");
    if (!thread) return false;
    const std::string_view front = before(text, "[tid ");
    const bool error = has(front, "[ERROR]") || has(front, "[CRITICAL]") || has(front, "[FATAL]") ||
                       (!has(front, "[INFO]") && has(line.whole, "[ERROR] [tid "));
    const auto said = behind(*thread, "]");
    if (!error || !said || trimmed(*said).empty()) return false;
    if (!has_their_date(line.whole) && service_in(*said).empty() && !has(*said, "NVSwitch") &&
        !has(*said, "NVLink")) {
      return false;
    }
    std::string_view subject = pci_address(*said);
    if (subject.empty()) subject = service_in(*said);
    facts.add(event(LogEventKind::kFabricManagerError, subject, trimmed(*said)), line);
    return true;
  }

  bool take_unit(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    const std::string_view service = service_in(text);
    if (service.empty()) return false;
    x_service = service;
    if (has(text, "could not be found") || has(text, ".service not found") || has(text, "not-found")) {
      hold_back(event(LogEventKind::kFabricManagerMissing, service, "not installed"), line, facts);
      return true;
    }
    if (has(text, "t match with driver version")) {
      facts.add(event(LogEventKind::kFabricManagerError, service, "driver version"), line);
      return true;
    }
    if (has(text, "Failed with result") || has(text, "Failed to start ") ||
        has(text, "process exited, code=") || has(text, ".service failed") ||
        has(text, "failed! Exit code") || has(text, "loaded failed") || has(text, "entered failed state") ||
        has(text, ".service: failed")) {
      if (has(text, "status=0/SUCCESS")) return true;
      hold_back(event(LogEventKind::kFabricManagerError, service, "failed"), line, facts);
      return true;
    }
    if (has(text, "Stopped ") || has(text, ".service: inactive") || has(text, "loaded inactive")) {
      hold_back(
          event(LogEventKind::kFabricManagerMissing, service, has(text, "Stopped ") ? "stopped" : "inactive"),
          line, facts);
      return true;
    }
    if (has(text, "loaded active") && has(text, "running")) {
      facts.add(event(LogEventKind::kFabricManagerReady, service), line);
      return true;
    }
    // `systemctl status`, and `systemctl is-active` with its answer on the next line.
    x_bare_state = has(text, "is-active");
    if (x_bare_state || has(text, ".service - ")) x_status_lines = x_bare_state ? 1 : kStatusLines;
    return false;
  }

  int x_status_lines = 0;
  bool x_bare_state = false;
  bool x_no_switches = false;
  std::string_view x_service = "nvidia-fabricmanager";  // one of service_in's
  std::vector<std::pair<LogEvent, Line>> x_held_back;
};

}  // namespace

std::unique_ptr<Family> fabric_manager_family() {
  return std::make_unique<FabricManagerFamily>();
}

}  // namespace unhang::formats::log
