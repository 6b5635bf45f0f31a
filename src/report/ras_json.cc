// SPDX-License-Identifier: Apache-2.0
#include "report/ras_json.h"

#include <nlohmann/json.hpp>

#include "base/time_text.h"

namespace unhang::report {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class Number>
Json number_or_null(Number value) {
  return value < 0 ? Json(nullptr) : Json(value);
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json time_or_null(const std::optional<std::int64_t>& ns) {
  return ns ? Json(base::utc_text(*ns)) : Json(nullptr);
}

std::string_view word_of(model::RasPresence presence) {
  switch (presence) {
    case model::RasPresence::kAnswered:
      return "answered";
    case model::RasPresence::kNoCommunicator:
      return "no_communicator";
    case model::RasPresence::kUnresponsive:
      return "unresponsive";
    case model::RasPresence::kDead:
      return "dead";
    case model::RasPresence::kMissing:
      return "missing";
  }
  return "missing";
}

Json error_or_null(const std::optional<model::NcclResult>& result) {
  return model::is_nccl_error(result) ? Json(model::text_of(*result)) : Json(nullptr);
}

Json rank_json(const model::RasRank& rank) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
    if (rank.counts[i])
      counts[std::string(model::name_of(static_cast<model::RasCollective>(i)))] = *rank.counts[i];
  }
  return {{"rank", rank.rank},
          {"host", text_or_null(rank.host)},
          {"pid", number_or_null(rank.pid)},
          {"cuda_device", number_or_null(rank.cuda_device)},
          {"nvml_device", number_or_null(rank.nvml_device)},
          {"presence", word_of(rank.presence)},
          {"status", model::name_of(rank.status)},
          {"init_error", error_or_null(rank.init_state)},
          {"async_error", error_or_null(rank.async_error)},
          {"launched", std::move(counts)}};
}

Json counts_json(const RasCountState& counts) {
  return {{"collective", model::name_of(counts.collective)},
          {"least", counts.least},
          {"most", counts.most},
          {"majority", counts.least == counts.most ? counts.most : counts.majority},
          {"tie", counts.tie},
          {"behind", counts.laggards},
          {"ahead", counts.leaders},
          {"behind_without_name", counts.unnamed_laggards},
          {"ahead_without_name", counts.unnamed_leaders}};
}

Json movement_json(const RasMovementState& movement) {
  return {{"state", movement.movement},
          {"why", text_or_null(movement.why)},
          {"frozen_behind", movement.frozen_laggards},
          {"last_moved", time_or_null(movement.last_moved_ns)},
          {"behind_since", time_or_null(movement.lag_since_ns)}};
}

Json communicator_json(const model::RasCommunicator& communicator, const RasCommunicatorState& state) {
  const RasPresenceCount count = count_presence(communicator);
  Json counts = Json::array(), ranks = Json::array();
  for (const RasCountState& one : state.counts) counts.push_back(counts_json(one));
  for (const model::RasRank& rank : communicator.ranks) ranks.push_back(rank_json(rank));
  Json out = {{"hash", model::hash_text(communicator.hash)},
              {"secondary_hash", text_or_null(communicator.secondary_hash)},
              {"size", number_or_null(communicator.size)},
              {"no_communicator", count.no_communicator},
              {"unresponsive", count.unresponsive},
              {"dead", count.dead},
              {"missing", count.missing},
              {"errors", count.errors},
              {"mismatch", communicator.mismatch},
              {"behind", state.laggards},
              {"ahead", state.leaders},
              {"other_operation", state.other_operation},
              {"tie", state.tie},
              {"counts", std::move(counts)}};
  if (state.movement) out["movement"] = movement_json(*state.movement);
  out["ranks"] = std::move(ranks);
  return out;
}

Json process_json(const model::RasProcess& process) {
  return {{"host", text_or_null(process.host)},
          {"pid", number_or_null(process.pid)},
          {"cuda_devices", process.cuda_devices},
          {"nvml_devices", process.nvml_devices},
          {"dead", process.dead}};
}

Json row_json(const model::RasRow& row) {
  return {{"communicators", row.communicators},
          {"size", row.size},
          {"nodes", row.nodes},
          {"answered", row.ranks},
          {"status", model::name_of(row.status)},
          {"incomplete", row.incomplete},
          {"error", row.error},
          {"mismatch", row.mismatch}};
}

std::string_view word_of(RasLook look) {
  switch (look) {
    case RasLook::kQuiet:
      return "nothing_wrong_seen";
    case RasLook::kUnknown:
      return "unknown";
    case RasLook::kBad:
      return "bad";
  }
  return "unknown";
}

Json job_json(const RasJobState& job) {
  Json communicators = Json::array(), lost = Json::array(), table = Json::array();
  for (std::size_t i = 0; i < job.communicators.size(); ++i) {
    communicators.push_back(communicator_json(job.view.communicators[i], job.communicators[i]));
  }
  for (const model::RasProcess& process : job.view.lost_processes) lost.push_back(process_json(process));
  for (const model::RasRow& row : job.view.rows) table.push_back(row_json(row));
  return {{"nccl_version", text_or_null(job.view.nccl_version)},
          {"answered_at", job.answered_at},
          {"look", word_of(look_of(job))},
          {"complete", job.view.complete},
          {"corrupt", job.view.corrupt},
          {"processes", value_or_null(job.view.processes)},
          {"nodes", value_or_null(job.view.nodes)},
          {"gpus", value_or_null(job.view.gpus)},
          {"timeouts", job.view.timeouts},
          {"lost_processes", std::move(lost)},
          {"table", std::move(table)},
          {"communicators", std::move(communicators)}};
}

}  // namespace

std::string render_ras_json(const RasState& state, JsonLayout layout) {
  Json jobs = Json::array(), troubles = Json::array();
  for (const RasJobState& job : state.jobs) jobs.push_back(job_json(job));
  for (const RasTroubleState& trouble : state.troubles) {
    troubles.push_back({{"asked", trouble.asked},
                        {"text", trouble.text},
                        {"refused", trouble.refused},
                        {"deadline", trouble.deadline},
                        {"partial", trouble.partial}});
  }
  const Json document = {{"schema", "unhang.ras/1"},        {"time", time_or_null(state.time_ns)},
                         {"look", word_of(look_of(state))}, {"jobs", std::move(jobs)},
                         {"troubles", std::move(troubles)}, {"notes", state.notes}};
  const int indent = layout == JsonLayout::kLine ? -1 : 1;
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace unhang::report
