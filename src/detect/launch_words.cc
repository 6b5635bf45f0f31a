// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_words.h"

#include <fmt/format.h>

namespace unhang::detect {
namespace {

using model::LaunchFacts;
using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchStage;

std::string seconds(double value) {
  return fmt::format("{:.1f} s", value);
}

std::string ending_words(const LaunchFacts& facts) {
  if (facts.signal != 0)
    return fmt::format("it was killed by signal {} after {}", facts.signal, seconds(facts.ran_s));
  return fmt::format("it ended by itself with status {} after {}", facts.exit_code, seconds(facts.ran_s));
}

}  // namespace

std::string place_words(LaunchPlace place) {
  switch (place) {
    case LaunchPlace::kBeforeNccl:
      return "before NCCL";
    case LaunchPlace::kNcclInit:
      return "in NCCL's initialisation";
    case LaunchPlace::kAfterInit:
      return "after NCCL's initialisation";
    case LaunchPlace::kFirstCollective:
      return "in the first collective";
    case LaunchPlace::kRunning:
      return "past its start: it had begun to work";
    case LaunchPlace::kUnknown:
      break;
  }
  return "at a place that is not known";
}

std::string launch_headline(const LaunchStage& stage, const LaunchFacts& facts) {
  std::string where = place_words(stage.place) + (stage.doing.empty() ? "" : ": " + stage.doing);
  if (stage.place == LaunchPlace::kBeforeNccl && stage.doing.empty() && !facts.nccl_began_s)
    where = "and NCCL was not reached (or is not used)";
  switch (stage.movement) {
    case LaunchMovement::kEnded:
      return ending_words(facts) + (stage.place == LaunchPlace::kUnknown ? "" : ", " + where);
    case LaunchMovement::kStanding:
      return "it stands " + where;
    case LaunchMovement::kAdvancing:
      return "it advances, " + where;
    case LaunchMovement::kPrinting:
      return "it still prints, " + where;
    default:
      break;
  }
  if (!facts.silent_s) return "it printed nothing in " + seconds(facts.ran_s) + ", " + where;
  return "it printed nothing for " + seconds(*facts.silent_s) + ", " + where;
}

}  // namespace unhang::detect
