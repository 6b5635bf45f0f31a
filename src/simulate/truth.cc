// SPDX-License-Identifier: Apache-2.0
#include "simulate/truth.h"

#include <nlohmann/json.hpp>

#include "simulate/placement.h"

namespace unhang::simulate {

namespace {

using Json = nlohmann::ordered_json;

bool is_incident(const Plan& plan) {
  return plan.sources != kFlightRecorder || plan.hosts > 0 || plan.skew_ns > 0 || plan.missing;
}

// What only incidents with hosts have.
void add_incident(const Truth& truth, Json& out) {
  const Placement place(truth.plan);
  out["complete"] = truth.complete;
  out["culprit_hosts"] = Json::array();
  for (const std::int32_t host : truth.culprit_hosts) out["culprit_hosts"].push_back(place.host_name(host));
  if (truth.host_suffices) out["host_suffices"] = true;
  Json& sources = out["sources"] = Json::array();
  if (truth.plan.has(kFlightRecorder)) sources.push_back("fr");
  if (truth.plan.has(kRas)) sources.push_back("ras");
  if (truth.plan.has(kLogs)) sources.push_back("logs");
  if (truth.plan.has(kKernel)) sources.push_back("kernel");
  out["without_dump"] = truth.without_dump;
  out["lost"] = truth.lost;
  out["hosts"] = Json::array();
  for (std::int32_t host = 0; host < place.hosts(); ++host) {
    Json item;
    item["name"] = place.host_name(host);
    item["address"] = place.address(host);
    item["clock_offset_ns"] = place.clock_offset(host);
    Json& processes = item["processes"] = Json::array();
    for (const std::int32_t rank : place.ranks_on(host)) {
      Json process;
      process["rank"] = rank;
      process["pid"] = place.pid(rank);
      process["gpu"] = place.bus_id(rank);
      processes.push_back(process);
    }
    out["hosts"].push_back(item);
  }
}

}  // namespace

std::string to_json(const Truth& truth) {
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
  if (is_incident(plan)) add_incident(truth, out);
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
