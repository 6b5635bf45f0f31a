// SPDX-License-Identifier: Apache-2.0
#include "simulate/truth.h"

#include <nlohmann/json.hpp>

namespace unhang::simulate {

std::string to_json(const Truth& truth) {
  using Json = nlohmann::ordered_json;
  const Plan& plan = truth.plan;
  Json out;
  out["scenario"] = truth.scenario;
  out["description"] = truth.description;
  out["world_size"] = plan.ranks;
  if (!truth.group.empty()) out["pg"] = truth.group;
  if (!truth.operation.empty()) out["op"] = truth.operation;
  out["timing"] = plan.timing;
  out["buffer_size"] = plan.entries;
  out["acceptable"] = Json::array();
  for (const Acceptable& acceptable : truth.acceptable) {
    Json item;
    item["category"] = acceptable.category;
    if (!acceptable.causes.empty()) item["causes"] = acceptable.causes;
    out["acceptable"].push_back(item);
  }
  out[truth.culprits_exact ? "culprits" : "culprits_within"] = truth.culprits;
  out["may_be_inconclusive"] = truth.may_be_inconclusive;
  out["injected"] = truth.injected;
  Json& made = out["plan"];
  made["fault"] = info_of(plan.fault).name;
  made["seed"] = plan.seed;
  made["tp"] = plan.tp;
  made["pp"] = plan.pp;
  made["dp"] = plan.ranks / plan.tp / plan.pp;
  made["frames"] = plan.frames;
  made["backend"] = plan.backend;
  made["format"] = plan.format == DumpFormat::kJson ? "json" : "pickle";
  made["only_active"] = plan.only_active;
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace unhang::simulate
