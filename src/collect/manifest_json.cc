// SPDX-License-Identifier: Apache-2.0
#include "collect/manifest_json.h"

#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "collect/redaction.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json file_json(const model::BundleFile& file) {
  Json out{{"path", file.path},
           {"captured", base::utc_text(file.captured_ns)},
           {"bytes", file.bytes},
           {"sha256", file.sha256}};
  if (!file.original_path.empty()) out["original_path"] = file.original_path;
  if (file.modified_ns) out["modified"] = base::utc_text(*file.modified_ns);
  if (file.pid >= 0) out["pid"] = file.pid;
  if (!file.note.empty()) out["note"] = file.note;
  if (file.stale) out["stale"] = true;
  if (file.growing) out["growing"] = true;
  if (file.cut) out["cut"] = true;
  return out;
}

Json source_json(const model::BundleSource& source) {
  Json out{{"id", source.id}, {"kind", source.kind}};
  if (!source.asked_kind.empty()) out["asked"] = Json{{source.asked_kind, source.asked}};
  out["status"] = model::name_of(source.status);
  if (!source.reason.empty()) out["reason"] = source.reason;
  out["started"] = base::utc_text(source.started_ns);
  out["elapsed_ms"] = source.elapsed_ms;
  if (!source.nccl_version.empty()) out["nccl_version"] = source.nccl_version;
  out["files"] = Json::array();
  for (const auto& file : source.files) out["files"].push_back(file_json(file));
  return out;
}

Json process_json(const model::BundleProcess& process) {
  Json out{{"pid", process.pid}, {"namespace_pids", process.namespace_pids}, {"name", process.name}};
  if (process.started_ns) out["started"] = base::utc_text(*process.started_ns);
  if (!process.nccl_version.empty()) out["nccl_version"] = process.nccl_version;
  out["environment"] = object_of(process.environment);
  return out;
}

Json command_json(const model::BundleCommand& command) {
  Json out{{"pid", command.pid}, {"ran_ms", command.ran_ms}, {"ended", command.ended}};
  if (command.status >= 0) out["status"] = command.status;
  if (command.signal > 0) out["signal"] = command.signal;
  if (command.core_dumped) out["core_dumped"] = true;
  if (command.oom_kills) out["oom_kills"] = *command.oom_kills;
  return out;
}

}  // namespace

std::string manifest_json(const model::BundleManifest& manifest) {
  Json out{{"schema", "unhang.bundle/1"},
           {"tool", {{"name", "unhang"}, {"version", manifest.tool_version}}},
           {"started", base::utc_text(manifest.started_ns)},
           {"ended", manifest.ended_ns ? Json(base::utc_text(*manifest.ended_ns)) : Json()},
           {"interrupted", manifest.interrupted},
           {"host", manifest.host}};
  if (!manifest.instance.empty()) out["instance"] = manifest.instance;
  if (!manifest.deployment.empty()) out["deployment"] = manifest.deployment;
  out["labels"] = object_of(manifest.labels);
  out["budget_ms"] = manifest.budget_ms;
  out["sources"] = Json::array();
  for (const auto& source : manifest.sources) out["sources"].push_back(source_json(source));
  out["processes"] = Json::array();
  for (const auto& process : manifest.processes) out["processes"].push_back(process_json(process));
  if (manifest.command) out["command"] = command_json(*manifest.command);
  out["redaction"] = {{"text",
                       "Kept as they are: what RAS, an engine and the Flight Recorder gave, and values of "
                       "/proc and /sys. Of logs "
                       "and of what programs printed, tokens, passwords and prompts were removed. Never "
                       "kept: command lines, and "
                       "of environments everything but the variables below. Removed: user names, passwords "
                       "and query values of "
                       "addresses."},
                      {"kept_variables", kept_variables()}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace unhang::collect
