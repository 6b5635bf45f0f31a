// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl_tests/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include <simdjson.h>

#include "formats/nccl_tests/open_end.h"

namespace unhang::formats::nccl_tests {
namespace {

namespace dom = simdjson::dom;
using model::BandwidthRow;
using model::BandwidthRun;
using model::Severity;

constexpr std::size_t kMaxDocument = 64 << 20;
constexpr std::size_t kRows = 4096;
constexpr std::size_t kHosts = 1 << 16;
constexpr std::size_t kText = 200;
constexpr std::int64_t kMostRanks = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string text_at(const dom::object& object, std::string_view key) {
  std::string_view value;
  return object[key].get_string().get(value) ? std::string() : std::string(value.substr(0, kText));
}

// Numbers stand as numbers, padded strings ("    -1") or strings of what JSON has no number for ("nan").
double fraction_at(const dom::object& object, std::string_view key) {
  double value = -1;
  std::string_view text;
  if (!object[key].get_double().get(value)) return std::isfinite(value) ? value : -1;
  if (object[key].get_string().get(text)) return -1;
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? value : -1;
}

std::int64_t number_at(const dom::object& object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = otherwise;
  std::string_view text;
  if (!object[key].get_int64().get(value)) return value;
  double fraction = 0;
  if (!object[key].get_double().get(fraction) && std::abs(fraction) < 9e15) return std::llround(fraction);
  if (object[key].get_string().get(text)) return otherwise;
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
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

// 23007 -> "2.30.7"; before 2.9 2708 -> "2.7.8" (nccl.h, NCCL_VERSION).
std::string version_text(std::int64_t code) {
  if (code < 1000 || code > 999'999) return {};
  const std::int64_t unit = code >= 10'000 ? 10'000 : 1000;
  return std::to_string(code / unit) + "." + std::to_string(code % unit / 100) + "." +
         std::to_string(code % 100);
}

// "/opt/nccl-tests/build/all_reduce_perf_mpi" -> "all_reduce_perf_mpi". Nothing else of the command is kept.
std::string test_of(const dom::object& root) {
  dom::array args;
  std::string_view program;
  if (root["args"].get_array().get(args) || args.at(0).get_string().get(program)) return {};
  if (const std::size_t slash = program.rfind('/'); slash != std::string_view::npos)
    program.remove_prefix(slash + 1);
  if (program.find("_perf") == std::string_view::npos) return {};
  return std::string(program.substr(0, kText));
}

void read_half(const dom::object& result, std::string_view key, std::size_t half, BandwidthRow& row) {
  dom::object found;
  if (result[key].get_object().get(found)) return;
  row.time_us[half] = fraction_at(found, "time");
  if (row.time_us[half] < 0) row.time_us[half] = fraction_at(found, "cpu_time");
  row.algbw[half] = fraction_at(found, "alg_bw");
  row.busbw[half] = fraction_at(found, "bus_bw");
  row.wrong[half] = std::max<std::int64_t>(number_at(found, "nwrong", -1), -1);
}

BandwidthRow read_row(const dom::object& result) {
  BandwidthRow row;
  row.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number_at(result, "size", 0), 0));
  row.elements = static_cast<std::uint64_t>(std::max<std::int64_t>(number_at(result, "count", 0), 0));
  row.datatype = trimmed(text_at(result, "type"));
  row.reduction = trimmed(text_at(result, "redop"));
  row.root =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(number_at(result, "root", -1), -1, kMostRanks));
  read_half(result, "out_of_place", 0, row);
  read_half(result, "in_place", 1, row);
  return row;
}

void read_devices(const dom::object& root, BandwidthRun& run) {
  dom::object config;
  if (root["config"].get_object().get(config)) return;
  std::set<std::string> hosts;
  std::set<std::pair<std::string, std::int64_t>> zeros;
  std::int64_t processes = 0;
  std::int64_t highest = -1;
  each_object(config, "devices", [&](const dom::object& device) {
    ++processes;
    std::string host = text_at(device, "hostname");
    const std::int64_t rank = number_at(device, "rank", -1);
    highest = std::max(highest, rank);
    if (rank == 0 && zeros.size() < 2) zeros.emplace(host, number_at(device, "pid", -1));
    if (!host.empty() && hosts.size() < kHosts) hosts.insert(std::move(host));
  });
  run.hosts.assign(hosts.begin(), hosts.end());
  run.without_mpi = zeros.size() > 1;
  // Of a process with several GPUs only the first is listed.
  const std::int64_t gpus = std::clamp<std::int64_t>(number_at(config, "ngpus", 1), 1, 1024) *
                            std::clamp<std::int64_t>(number_at(config, "nthreads", 1), 1, 1024);
  const std::int64_t ranks = run.without_mpi ? highest + 1 : std::max(highest + 1, processes * gpus);
  if (processes > 0 && ranks <= kMostRanks) run.ranks = static_cast<std::int32_t>(ranks);
}

void read(const dom::object& root, bool cut, Evidence& evidence) {
  model::Log log;
  BandwidthRun run;
  run.line = 1;
  run.test = test_of(root);
  log.nccl_version = version_text(number_at(root, "nccl_version", -1));
  read_devices(root, run);
  each_object(root, "results", [&](const dom::object& result) {
    if (number_at(result, "size", -1) < 0) return;  // cut before its first value
    if (run.rows.size() < kRows) {
      run.rows.push_back(read_row(result));
    } else {
      run.rows.back() = read_row(result);  // -N 0 goes on for ever: the latest counts
      ++log.forgotten;
    }
  });
  // The last result was being written when the process died.
  run.cut_row = cut && !run.rows.empty() && run.rows.back().busbw[1] < 0;
  dom::object part;
  if (!root["average_bus_bandwidth"].get_object().get(part))
    run.average_busbw = fraction_at(part, "bandwidth");
  if (!root["out_of_bounds"].get_object().get(part)) {
    run.out_of_bounds = number_at(part, "count", -1);
    run.concluded = true;
  }
  if (run.out_of_bounds > 0) {
    model::LogEvent event;
    event.kind = model::LogEventKind::kTestFailure;
    event.detail = std::to_string(run.out_of_bounds) + " values out of bounds";
    event.text = event.detail;
    event.line = event.last_line = 1;
    log.events.push_back(std::move(event));
  }
  log.origins.emplace_back();
  log.lines = log.recognised = 1;
  log.bandwidth_runs.push_back(std::move(run));
  evidence.logs.push_back(std::move(log));
}

void problem(Evidence& evidence, Severity severity, std::string code, std::string text, std::uint64_t lost) {
  evidence.problems.push_back({severity, std::move(code), std::move(text), {}, lost});
}

}  // namespace

bool sniff(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '{') return false;
  // These are the first keys, in this order; the environment, which comes next, may be long.
  constexpr std::size_t kNear = 8192;
  const std::string_view begin = bytes.substr(first, kNear);
  const std::size_t version = begin.find("\"version\"");
  const std::size_t start = begin.find("\"start_time\"");
  const std::size_t args = begin.find("\"args\"");
  return version < start && start < args && args != std::string_view::npos &&
         begin.find("_perf", args) != std::string_view::npos;
}

void parse(std::string_view bytes, Evidence& evidence) {
  if (bytes.size() > kMaxDocument) {
    problem(evidence, Severity::kDataLoss, "too_large",
            "a result of nccl-tests of more than 64 MiB is not read", bytes.size());
    return;
  }
  const Closed closed = close_open_end(bytes);
  dom::parser parser;
  const simdjson::padded_string padded(closed.text);
  dom::object root;
  if (closed.text.empty() || parser.parse(padded).get_object().get(root)) {
    problem(evidence, Severity::kDataLoss, "damaged", "JSON of nccl-tests that cannot be read", bytes.size());
    return;
  }
  if (closed.was_open) {
    problem(evidence, Severity::kInfo, "truncated",
            "the result of nccl-tests has no end: the run hangs, or its process died; what is there is read",
            0);
  }
  read(root, closed.was_open, evidence);
}

}  // namespace unhang::formats::nccl_tests
