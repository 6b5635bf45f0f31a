// SPDX-License-Identifier: Apache-2.0
#include "detect/living_program.h"

#include <algorithm>

namespace unhang::detect {
namespace {

bool still_ran(const model::Case& joined) {
  return std::any_of(joined.bundles.begin(), joined.bundles.end(), [](const model::BundleManifest& bundle) {
    return bundle.command && !bundle.command->ended;
  });
}

// As `unhang probe` keeps what the command printed.
bool is_printed(const model::EvidenceItem& item) {
  return item.file.ends_with("stdout.log") || item.file.ends_with("stderr.log");
}

bool was_not_seen(const model::Case& joined, const Explanation& explanation) {
  const auto is_seen = [&](std::int32_t rank) {
    return std::any_of(joined.processes.begin(), joined.processes.end(),
                       [&](const auto& reading) { return reading.sample.rank == rank; });
  };
  const bool any_rank = std::any_of(joined.processes.begin(), joined.processes.end(),
                                    [](const auto& reading) { return reading.sample.rank >= 0; });
  if (!any_rank) return false;
  for (const auto* subjects : {&explanation.other_culprits, &explanation.other_suspects}) {
    for (const model::Subject& subject : *subjects) {
      if (subject.rank && !is_seen(*subject.rank)) return true;
    }
  }
  return false;
}

}  // namespace

void doubt_words_of_the_living(const model::Case& joined, Explanation& explanation) {
  const bool of_death = explanation.state == model::State::kDead ||
                        explanation.category == model::Category::kProcessOrDeviceUnavailable;
  if (!of_death || explanation.records.empty() || !still_ran(joined)) return;
  if (!std::all_of(explanation.records.begin(), explanation.records.end(), is_printed)) return;
  if (was_not_seen(joined, explanation)) return;
  explanation.strength = model::Confidence::kLow;
  explanation.state = model::State::kUnknown;
  explanation.tentative = true;
  explanation.headline += "; but these are printed words, and the command still ran";
  auto& suspects = explanation.other_suspects;
  suspects.insert(suspects.end(), explanation.other_culprits.begin(), explanation.other_culprits.end());
  explanation.other_culprits.clear();
}

}  // namespace unhang::detect
