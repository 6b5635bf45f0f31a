// SPDX-License-Identifier: Apache-2.0
#include "join/log_coverage.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "join/host_of_path.h"

namespace unhang::join {
namespace {

using model::LogEventKind;

constexpr LogEventKind kOfKernels[] = {LogEventKind::kXid,           LogEventKind::kGpuLost,
                                       LogEventKind::kSxid,          LogEventKind::kOutOfMemoryKill,
                                       LogEventKind::kPcieCorrected, LogEventKind::kPcieError,
                                       LogEventKind::kHungTask,      LogEventKind::kHostMemoryError};

template <class Holds>
void add_row(const char* source, const Holds& holds, model::Case& joined) {
  model::CoverageRow row;
  row.source = source;
  for (model::RankIndex index = 0; index < joined.ranks.size(); ++index)
    (holds(joined.ranks[index]) ? row.seen : row.absent).push_back(index);
  joined.coverage.push_back(std::move(row));
}

// Hosts of which a kernel log is there. A kernel says nothing of its host in "dmesg": then the file's place
// did.
std::set<std::string> hosts_with_kernel_log(const model::Log& log) {
  std::set<std::string> out;
  for (const model::LogOrigin& origin : log.origins) {
    if (origin.label == "kernel" && !origin.host.empty()) out.insert(origin.host);
  }
  for (const model::LogEvent& event : log.events) {
    const bool of_kernel =
        std::find(std::begin(kOfKernels), std::end(kOfKernels), event.kind) != std::end(kOfKernels);
    const std::string& host = log.origins[event.origin].host;
    if (of_kernel && !host.empty()) out.insert(host);
  }
  return out;
}

// A kernel log in which nothing happened tells as much: by its name, in a place that names the host.
bool is_called_kernel_log(std::string_view path) {
  const std::size_t slash = path.find_last_of("/!");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const std::string_view word : {"dmesg", "kern.", "kern-", "kernel", "kmsg"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool has_kernel_log(const model::Case& joined) {
  const auto of_kernel = [](const model::LogEvent& event) {
    return std::find(std::begin(kOfKernels), std::end(kOfKernels), event.kind) != std::end(kOfKernels);
  };
  return std::any_of(joined.logs.origins.begin(), joined.logs.origins.end(),
                     [](const auto& origin) { return origin.label == "kernel"; }) ||
         std::any_of(joined.logs.events.begin(), joined.logs.events.end(), of_kernel) ||
         std::any_of(joined.inputs.begin(), joined.inputs.end(), [](const model::Input& input) {
           return (input.kind == "log" || input.kind == "unknown") && is_called_kernel_log(input.path);
         });
}

void add_quiet_kernel_logs(const BundleFacts& bundles, const model::Case& joined,
                           std::set<std::string>& hosts) {
  std::set<std::string, std::less<>> known;
  for (const model::HostIdentity& host : joined.hosts) known.insert(host.name);
  for (const model::Input& input : joined.inputs) {
    if ((input.kind != "log" && input.kind != "unknown") || !is_called_kernel_log(input.path)) continue;
    const FileFacts* facts = bundles.find(input.path);
    std::string host = facts != nullptr ? facts->host : host_in_path(input.path, known);
    if (!host.empty()) hosts.insert(std::move(host));
  }
}

}  // namespace

void cover_logs(const BundleFacts& bundles, model::Case& joined) {
  joined.has_kernel_log = has_kernel_log(joined);
  if (joined.ranks.empty()) return;
  std::set<std::int32_t> with_lines;
  for (const model::LogOrigin& origin : joined.logs.origins) {
    if (origin.global_rank >= 0) with_lines.insert(origin.global_rank);
  }
  if (!with_lines.empty())
    add_row(
        "log", [&](const model::Rank& rank) { return with_lines.count(rank.global_rank) != 0; }, joined);
  std::set<std::string> kernels = hosts_with_kernel_log(joined.logs);
  add_quiet_kernel_logs(bundles, joined, kernels);
  const bool placed = std::any_of(joined.ranks.begin(), joined.ranks.end(),
                                  [](const auto& rank) { return !rank.host.empty(); });
  if (!kernels.empty() && placed)
    add_row(
        "kernel_log", [&](const model::Rank& rank) { return kernels.count(rank.host) != 0; }, joined);
  std::set<std::int32_t> with_stacks;
  for (const model::ProcessReading& reading : joined.processes) {
    if (reading.sample.rank >= 0) with_stacks.insert(reading.sample.rank);
  }
  if (!with_stacks.empty())
    add_row(
        "stacks", [&](const model::Rank& rank) { return with_stacks.count(rank.global_rank) != 0; }, joined);
}

}  // namespace unhang::join
