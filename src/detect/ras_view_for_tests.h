// SPDX-License-Identifier: Apache-2.0
//
// For tests only: views of RAS, and Cases that hold nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/case.h"
#include "model/ras_answers_for_tests.h"
#include "model/verdict.h"

namespace unhang::detect::fixture {

using namespace model::fixture;

inline model::RasView view(std::vector<model::RasCommunicator> communicators,
                           std::optional<std::int64_t> time_ns = {}) {
  model::RasView out;
  out.time_ns = time_ns;
  out.sources = {0};
  out.nccl_version = "2.30.7";
  out.communicators = std::move(communicators);
  return out;
}

// A Case as join/ makes it of these views alone: the first communicator is the job's.
inline model::Case ras_case(std::vector<model::RasView> views) {
  model::Case out;
  out.inputs.push_back({"ras.json", "nccl_ras_json", {}});
  const model::RasCommunicator world = views.front().communicators.front();
  for (const model::RasRank& rank : world.ranks) {
    out.ranks.emplace_back();
    out.ranks.back().global_rank = rank.rank;
    out.ranks.back().host = rank.host;
    out.ranks.back().pid = rank.pid;
  }
  for (model::RasView& view : views) {
    for (auto& communicator : view.communicators) {
      for (auto& rank : communicator.ranks) {
        for (const auto& known : world.ranks) {
          if (known.pid == rank.pid && known.host == rank.host) rank.global_rank = known.rank;
        }
      }
    }
  }
  out.ras.views = std::move(views);
  out.ras.world_hash = world.hash;
  out.ras.ranks_from_communicator = true;
  return out;
}

// The ranks that a verdict names; -1: one without a rank of the job.
inline std::vector<std::int32_t> ranks_of(const std::vector<model::Subject>& subjects) {
  std::vector<std::int32_t> out;
  for (const auto& subject : subjects) out.push_back(subject.rank.value_or(-1));
  return out;
}
inline std::vector<std::int32_t> culprits(const model::Verdict& verdict) {
  return ranks_of(verdict.culprits);
}
inline std::vector<std::int32_t> suspects(const model::Verdict& verdict) {
  return ranks_of(verdict.suspects);
}

}  // namespace unhang::detect::fixture
