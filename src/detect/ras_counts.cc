// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_counts.h"

#include <algorithm>
#include <vector>

#include "detect/ras_naming.h"

namespace unhang::detect {
namespace {

// The collectives in which somebody is behind.
std::vector<const RasCountSkew*> with_laggards(const RasCommunicatorState& state) {
  std::vector<const RasCountSkew*> out;
  for (const RasCountSkew& skew : state.skew.counts) {
    if (!skew.laggards.empty()) out.push_back(&skew);
  }
  return out;
}

}  // namespace

std::string counted(model::RasCollective collective) {
  return collective == model::RasCollective::kAny ? "collectives" : std::string(model::name_of(collective));
}

std::string count_of(const RasCommunicatorState& state, std::int32_t rank) {
  const model::RasRank* known = find_rank(*state.communicator, rank);
  std::string out;
  for (const RasCountSkew& skew : state.skew.counts) {
    const auto& count =
        known != nullptr ? known->counts[static_cast<std::size_t>(skew.collective)] : std::nullopt;
    if (!count || *count == skew.majority) continue;
    if (!out.empty()) out += " and ";
    out += (*count == 0 ? std::string("no ") : std::to_string(*count) + " ") + counted(skew.collective) +
           ", the majority " + std::to_string(skew.majority);
  }
  return "launched " + (out.empty() ? std::string("other operations") : out);
}

namespace {

// "rank 5"; where they have other numbers in the job: "rank 2 of it (rank 6 of the job)".
std::string both_numbers(const RasCommunicatorState& state, const std::vector<std::int32_t>& ranks) {
  std::vector<std::int32_t> in_job;
  for (const std::int32_t number : ranks) {
    const model::RasRank* rank = find_rank(*state.communicator, number);
    if (rank == nullptr || rank->global_rank < 0) return ranks_text(ranks);
    in_job.push_back(rank->global_rank);
  }
  std::sort(in_job.begin(), in_job.end());
  if (in_job == ranks) return ranks_text(ranks);
  return ranks_text(ranks) + " of it (" + ranks_text(in_job) + " of the job)";
}

}  // namespace

std::string counts_text(const RasCommunicatorState& state) {
  std::string out;
  for (const RasCountSkew& skew : state.skew.counts) {
    if (!out.empty()) out += "; ";
    out += counted(skew.collective) + ": majority at " + std::to_string(skew.majority);
    if (!skew.laggards.empty())
      out += ", " + both_numbers(state, skew.laggards) + " from " + std::to_string(skew.least);
    if (!skew.leaders.empty())
      out += ", " + both_numbers(state, skew.leaders) + " up to " + std::to_string(skew.most);
  }
  return out;
}

std::string collectives_text(const RasCommunicatorState& state) {
  std::string out;
  for (const RasCountSkew* skew : with_laggards(state))
    out += (out.empty() ? "" : " and ") + counted(skew->collective);
  return out;
}

std::string numbers_text(const RasCommunicatorState& state, std::size_t ranks) {
  const auto skews = with_laggards(state);
  if (skews.size() != 1) return {};
  return ": the majority launched " + std::to_string(skews[0]->majority) + ", " +
         (ranks == 1 ? "it launched " : "they launched ") +
         (skews[0]->least == 0 ? "none" : std::to_string(skews[0]->least));
}

std::size_t most_unnamed_leaders(const RasCommunicatorState& state) {
  std::size_t most = 0;
  for (const RasCountSkew& skew : state.skew.counts) most = std::max<std::size_t>(most, skew.unnamed_leaders);
  return most;
}

}  // namespace unhang::detect
