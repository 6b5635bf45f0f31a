// SPDX-License-Identifier: Apache-2.0
#include "report/recovery_words.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace unhang::report {
namespace {

std::string ordinal(std::size_t number) {
  const std::size_t last = number % 10;
  const bool teen = number / 10 % 10 == 1;
  return std::to_string(number) + (teen        ? "th"
                                   : last == 1 ? "st"
                                   : last == 2 ? "nd"
                                   : last == 3 ? "rd"
                                               : "th");
}

}  // namespace

std::string environment_words(std::string_view environment) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"lws", "LeaderWorkerSet"}, {"jobset", "JobSet"},
      {"slurm", "Slurm"},         {"ray", "Ray"},
      {"torchrun", "torchrun"},   {"kubernetes", "Kubernetes"},
      {"systemd", "systemd"},     {"docker", "containers"}};
  for (const auto& [name, words] : kWords) {
    if (name == environment) return std::string(words);
  }
  return std::string(environment);
}

std::string history_words(const model::Recurrence& recurrence) {
  std::string out = ordinal(recurrence.times) + " time on " + recurrence.subject + ": " +
                    std::to_string(recurrence.times - std::min<std::size_t>(recurrence.times, 1)) + " of " +
                    std::to_string(recurrence.verdicts) +
                    (recurrence.verdicts == 1 ? " earlier verdict" : " earlier verdicts");
  if (!recurrence.cause.empty() && recurrence.cause != "unknown") out += ", mostly " + recurrence.cause;
  if (!recurrence.last.empty()) out += "; last: " + recurrence.last;
  return out;
}

std::string lost_words(const model::IncidentTimes& times) {
  if (!times.gpu_hours_lost) return {};
  char text[64];
  std::snprintf(text, sizeof text, *times.gpu_hours_lost < 10 ? "%.1f" : "%.0f", *times.gpu_hours_lost);
  return std::string(text) + " GPU-hours lost";
}

std::vector<std::size_t> chosen_steps(const std::vector<model::RecoveryStep>& steps, std::size_t most) {
  std::vector<std::size_t> out;
  if (!steps.empty() && most > 0) out.push_back(0);
  for (const bool changes : {true, false}) {
    for (std::size_t i = 1; i < steps.size() && out.size() < most; ++i) {
      if (steps[i].changes_the_world == changes) out.push_back(i);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace unhang::report
