// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle_manifest.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include <simdjson.h>

#include "base/time_text.h"
#include "formats/stated_schema.h"

namespace unhang::formats::bundle {
namespace {

namespace dom = simdjson::dom;
using model::Severity;

constexpr std::string_view kSchemaStem = "unhang.bundle/";
constexpr std::size_t kMaxDocument = 256 << 20;
constexpr std::size_t kShaDigits = 64;

// A value of another type than it should be counts as not there.
std::string text_at(const dom::object& object, std::string_view key) {
  std::string_view value;
  return object[key].get_string().get(value) ? std::string() : std::string(value);
}
std::int64_t number_at(const dom::object& object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = otherwise;
  return object[key].get_int64().get(value) ? otherwise : value;
}
bool flag_at(const dom::object& object, std::string_view key) {
  bool value = false;
  return !object[key].get_bool().get(value) && value;
}
std::optional<std::int64_t> time_at(const dom::object& object, std::string_view key) {
  std::string_view value;
  if (object[key].get_string().get(value)) return std::nullopt;
  return base::parse_utc(value);
}

template <class Visit>
void each_object(const dom::object& object, std::string_view key, Visit&& visit) {
  dom::array list;
  if (object[key].get_array().get(list)) return;
  for (const dom::element item : list) {
    dom::object found;
    if (!item.get_object().get(found)) visit(found);
  }
}

std::vector<std::pair<std::string, std::string>> pairs_at(const dom::object& object, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  dom::object pairs;
  if (object[key].get_object().get(pairs)) return out;
  for (const dom::key_value_pair field : pairs) {
    std::string_view value;
    if (!field.value.get_string().get(value)) out.emplace_back(field.key, value);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_sha256(std::string_view text) {
  return text.size() == kShaDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class ManifestReader {
 public:
  explicit ManifestReader(Evidence& evidence) : x_evidence(evidence) {}

  void read(const dom::object& root, std::string_view schema) {
    if (schema != "unhang.bundle/1") {
      problem(Severity::kInfo, "newer_schema",
              "a bundle of a later form (" + std::string(schema.substr(0, 40)) +
                  "): what this release does not know of it is passed over");
    }
    dom::object tool;
    if (!root["tool"].get_object().get(tool)) x_manifest.tool_version = text_at(tool, "version");
    x_manifest.started_ns = time_at(root, "started").value_or(0);
    x_manifest.ended_ns = time_at(root, "ended");
    x_manifest.interrupted = flag_at(root, "interrupted");
    x_manifest.host = text_at(root, "host");
    x_manifest.instance = text_at(root, "instance");
    x_manifest.deployment = text_at(root, "deployment");
    x_manifest.labels = pairs_at(root, "labels");
    x_manifest.budget_ms = number_at(root, "budget_ms", 0);
    each_object(root, "sources", [&](const dom::object& source) { read_source(source); });
    each_object(root, "processes", [&](const dom::object& process) { read_process(process); });
    if (dom::object command; !root["command"].get_object().get(command)) read_command(command);
    if (!x_manifest.ended_ns) {
      problem(Severity::kInfo, "unfinished",
              "the capture was cut short: sources that it had not finished are listed as silent");
    }
    x_evidence.bundles.push_back(std::move(x_manifest));
  }

 private:
  void problem(Severity severity, std::string code, std::string text) {
    x_evidence.problems.push_back({severity, std::move(code), std::move(text), {}, 0});
  }

  void read_source(const dom::object& object) {
    model::BundleSource source;
    source.id = text_at(object, "id");
    source.kind = text_at(object, "kind");
    dom::object asked;
    if (!object["asked"].get_object().get(asked)) {
      for (const dom::key_value_pair field : asked) {
        std::string_view value;
        if (field.value.get_string().get(value)) continue;
        source.asked_kind = field.key;
        source.asked = value;
        break;
      }
    }
    const std::string status = text_at(object, "status");
    if (const auto known = model::parse_source_status(status)) {
      source.status = *known;
    } else {
      source.status = model::SourceStatus::kFailed;
      problem(Severity::kError, "bad_status",
              "source '" + source.id.substr(0, 80) + "' has no status that is known here; taken as failed");
    }
    source.reason = text_at(object, "reason");
    source.started_ns = time_at(object, "started").value_or(0);
    source.elapsed_ms = number_at(object, "elapsed_ms", 0);
    source.nccl_version = text_at(object, "nccl_version");
    each_object(object, "files", [&](const dom::object& file) { read_file(file, source); });
    x_manifest.sources.push_back(std::move(source));
  }

  void read_file(const dom::object& object, model::BundleSource& source) {
    model::BundleFile file;
    file.path = text_at(object, "path");
    if (!is_inside(file.path)) {
      problem(
          Severity::kError, "bad_path",
          "source '" + source.id.substr(0, 80) + "' lists a file outside the bundle; it is not looked at");
      return;
    }
    file.captured_ns = time_at(object, "captured").value_or(0);
    file.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number_at(object, "bytes", 0), 0));
    file.sha256 = text_at(object, "sha256");
    if (!is_sha256(file.sha256)) {
      problem(Severity::kError, "bad_hash", "the SHA-256 of " + file.path.substr(0, 80) + " is none");
      file.sha256.clear();
    }
    file.original_path = text_at(object, "original_path");
    file.modified_ns = time_at(object, "modified");
    file.pid = number_at(object, "pid", -1);
    file.note = text_at(object, "note");
    file.stale = flag_at(object, "stale");
    file.growing = flag_at(object, "growing");
    file.cut = flag_at(object, "cut");
    source.files.push_back(std::move(file));
  }

  void read_process(const dom::object& object) {
    model::BundleProcess process;
    process.pid = number_at(object, "pid", -1);
    dom::array pids;
    if (!object["namespace_pids"].get_array().get(pids)) {
      for (const dom::element pid : pids) {
        std::int64_t value = -1;
        if (!pid.get_int64().get(value)) process.namespace_pids.push_back(value);
      }
    }
    process.name = text_at(object, "name");
    process.started_ns = time_at(object, "started");
    process.nccl_version = text_at(object, "nccl_version");
    process.environment = pairs_at(object, "environment");
    x_manifest.processes.push_back(std::move(process));
  }

  void read_command(const dom::object& object) {
    constexpr std::int64_t kLargestStatus = 255, kLargestSignal = 64;
    model::BundleCommand command;
    command.pid = number_at(object, "pid", -1);
    command.ran_ms = std::max<std::int64_t>(number_at(object, "ran_ms", 0), 0);
    command.ended = flag_at(object, "ended");
    const std::int64_t status = number_at(object, "status", -1), signal = number_at(object, "signal", 0);
    if (status >= 0 && status <= kLargestStatus) command.status = static_cast<int>(status);
    if (signal > 0 && signal <= kLargestSignal) command.signal = static_cast<int>(signal);
    command.core_dumped = flag_at(object, "core_dumped");
    if (const std::int64_t kills = number_at(object, "oom_kills", -1); kills >= 0) command.oom_kills = kills;
    if (command.ended && command.status < 0 && command.signal == 0) {
      problem(Severity::kError, "bad_command", "how the command ended is not said; it is passed over");
      return;
    }
    x_manifest.command = command;
  }

  Evidence& x_evidence;
  model::BundleManifest x_manifest;
};

}  // namespace

bool is_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.back() == '/') return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return std::none_of(path.begin(), path.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; });
}

bool sniff_manifest(std::string_view bytes) {
  return states_schema(bytes, kSchemaStem);
}

void parse_manifest(std::string_view bytes, Evidence& evidence) {
  if (bytes.size() > kMaxDocument) {
    evidence.problems.push_back(
        {Severity::kDataLoss, "too_large", "a manifest of more than 256 MiB is not read", {}, bytes.size()});
    return;
  }
  dom::parser parser;
  const simdjson::padded_string padded(bytes);
  dom::object root;
  if (const auto error = parser.parse(padded).get_object().get(root)) {
    evidence.problems.push_back({Severity::kDataLoss,
                                 "damaged",
                                 std::string("the manifest of the bundle is damaged (") +
                                     simdjson::error_message(error) +
                                     "); the other files are read as if they lay there without one",
                                 {},
                                 bytes.size()});
    return;
  }
  const std::string schema = text_at(root, "schema");
  if (!schema.starts_with(kSchemaStem)) {
    evidence.problems.push_back(
        {Severity::kInfo, "foreign_json", "JSON, but not the manifest of a bundle; ignored", {}, 0});
    return;
  }
  ManifestReader(evidence).read(root, schema);
}

}  // namespace unhang::formats::bundle
