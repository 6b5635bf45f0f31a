// SPDX-License-Identifier: Apache-2.0
#include "checks/probe_variables.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace unhang::checks {
namespace {

// As NCCL orders them (debug.cc): each says what those before it say, too.
constexpr std::array<std::string_view, 6> kLevels{"NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE"};
constexpr std::size_t kInfo = 3;
// Without COLL and CALL: those cost a line for every collective.
constexpr std::string_view kSubsystems = "INIT,BOOTSTRAP,ENV,NET,GRAPH,TUNING,RAS";
constexpr std::string_view kRing = "2000";

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

class Settings {
 public:
  explicit Settings(const LookUp& variable) : x_variable(variable) {}
  ProbeVariables out;

  bool has(std::string_view name) const { return x_variable(name) != nullptr; }
  void set(std::string_view name, std::string value) { out.set.emplace_back(name, std::move(value)); }
  // One name or two for the same thing; what the caller gave under either stays.
  void offer(std::string_view newer, bool wants_newer, std::string_view older, bool wants_older,
             const std::string& value) {
    if (has(newer) || has(older)) return;
    if (wants_newer) set(newer, value);
    if (wants_older) set(older, value);
  }

 private:
  const LookUp& x_variable;
};

}  // namespace

ProbeVariables probe_variables(const LookUp& variable, const std::string& folder,
                               const std::optional<Release>& torch, bool calls) {
  Settings settings(variable);
  const char* level = variable("NCCL_DEBUG");
  const auto known =
      level == nullptr ? kLevels.end() : std::find(kLevels.begin(), kLevels.end(), upper(level));
  if (known == kLevels.end() || known - kLevels.begin() < static_cast<std::ptrdiff_t>(kInfo))
    settings.set("NCCL_DEBUG", "INFO");
  if (!settings.has("NCCL_DEBUG_SUBSYS")) {
    settings.set("NCCL_DEBUG_SUBSYS", std::string(kSubsystems) + (calls ? ",COLL" : ""));
  } else {
    const std::string own = upper(variable("NCCL_DEBUG_SUBSYS"));
    if (own.find("INIT") == std::string::npos && own.find("ALL") == std::string::npos)
      settings.out.notes.push_back(
          "NCCL_DEBUG_SUBSYS is set without INIT: communicators will not be seen in NCCL's log");
  }
  const char* file = variable("NCCL_DEBUG_FILE");
  if (file != nullptr && *file != '\0') {
    settings.out.nccl_log = file;
    if (settings.out.nccl_log.find("%p") == std::string::npos)
      settings.out.notes.push_back("NCCL_DEBUG_FILE is set without %p: processes overwrite each other's log");
  } else {
    settings.set("NCCL_DEBUG_FILE", folder + "/nccl.%h.%p.log");
  }

  // PyTorch 2.8 brought the new names and still reads the old ones; the pipe is made only where the old one
  // says that there is a ring.
  const bool newer = !torch || !is_before(*torch, 2, 8);
  settings.offer("TORCH_FR_BUFFER_SIZE", newer, "TORCH_NCCL_TRACE_BUFFER_SIZE", true, std::string(kRing));
  settings.offer("TORCH_FR_DUMP_ON_TIMEOUT", false, "TORCH_NCCL_DUMP_ON_TIMEOUT", true, "1");
  settings.offer("TORCH_FR_DUMP_TEMP_FILE", newer, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", true,
                 folder + "/nccl_trace_rank_");
  settings.offer("TORCH_FR_DEBUG_INFO_PIPE_FILE", false, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE", true,
                 folder + "/pipes/rank_");
  return std::move(settings.out);
}

bool is_probe_variable(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kNames{"NCCL_DEBUG",
                                                           "NCCL_DEBUG_SUBSYS",
                                                           "NCCL_DEBUG_FILE",
                                                           "TORCH_FR_BUFFER_SIZE",
                                                           "TORCH_NCCL_TRACE_BUFFER_SIZE",
                                                           "TORCH_FR_DUMP_ON_TIMEOUT",
                                                           "TORCH_NCCL_DUMP_ON_TIMEOUT",
                                                           "TORCH_FR_DUMP_TEMP_FILE",
                                                           "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                                                           "TORCH_FR_DEBUG_INFO_PIPE_FILE",
                                                           "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace unhang::checks
