// SPDX-License-Identifier: Apache-2.0
//
// Results of one catalogue over several subjects (containers, workers) as one list: the same finding of
// another subject only adds its places, and a rule that found something in one has not passed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/check_result.h"

namespace unhang::checks {

class MergedResults {
 public:
  void add(std::vector<model::CheckResult> results) {
    for (model::CheckResult& result : results) {
      const auto key = std::tuple(result.id, result.status, result.detail);
      const auto [at, is_new] = x_known.emplace(key, x_results.size());
      if (is_new) {
        if (result.status != model::CheckStatus::kPass) x_found.insert(result.id);
        x_results.push_back(std::move(result));
        continue;
      }
      for (std::string& place : result.evidence) {
        auto& places = x_results[at->second].evidence;
        if (std::find(places.begin(), places.end(), place) == places.end())
          places.push_back(std::move(place));
      }
    }
  }

  // In the order of the catalogue, whichever subject a result is of.
  template <class Catalogue>
  std::vector<model::CheckResult> take(const Catalogue& catalogue) {
    std::erase_if(x_results, [&](const model::CheckResult& result) {
      return result.status == model::CheckStatus::kPass && x_found.contains(result.id);
    });
    std::map<std::string, std::size_t> order;
    for (const auto& check : catalogue) order.emplace(check.id, order.size());
    std::stable_sort(
        x_results.begin(), x_results.end(),
        [&](const model::CheckResult& a, const model::CheckResult& b) { return order[a.id] < order[b.id]; });
    return std::move(x_results);
  }

 private:
  std::vector<model::CheckResult> x_results;
  std::map<std::tuple<std::string, model::CheckStatus, std::string>, std::size_t> x_known;
  std::set<std::string> x_found;
};

}  // namespace unhang::checks
