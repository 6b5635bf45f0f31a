// SPDX-License-Identifier: Apache-2.0
#include "collect/fan_out.h"

#include <algorithm>
#include <set>

#include "collect/member_source.h"
#include "os/host_name.h"

namespace unhang::collect {
namespace {

// Asking who the members are may take so much of the budget.
constexpr std::chrono::nanoseconds kLongestLook = std::chrono::seconds(10);
constexpr int kLookPart = 3;

std::string folder_of(const Member& member, std::set<std::string>& taken) {
  const std::string name = clean_name(member.name);
  std::string free = name;
  for (int i = 2; !taken.insert(free).second; ++i) free = name + "." + std::to_string(i);
  return "members/" + free;
}

bool has_job(const model::BundleSource& source) {
  return source.status == model::SourceStatus::kAnswered || source.status == model::SourceStatus::kPartial;
}

}  // namespace

base::Result<CaptureResult> fan_out(const FanOutRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  CaptureSettings settings;
  settings.facts.started_ns = settings.clock->wall_ns();
  const auto members = find_members(request.members, request.programs,
                                    started + std::min(kLongestLook, request.budget / kLookPart));
  if (!members) return base::fail(members.error());
  const auto plan = std::make_shared<FanOutPlan>();
  plan->program = request.program;
  plan->programs = request.programs;
  plan->flags = request.flags;
  std::vector<CaptureSource> sources;
  std::set<std::string> taken;
  for (const Member& member : *members)
    sources.push_back(member_source(member, folder_of(member, taken), plan));
  settings.folder = request.folder;
  settings.budget = request.budget - (std::chrono::steady_clock::now() - started);
  settings.stop = request.stop;
  settings.facts.budget_ms = std::chrono::duration_cast<std::chrono::milliseconds>(request.budget).count();
  settings.facts.tool_version = request.program.version;
  settings.facts.host = os::host_name();
  settings.facts.instance = request.instance;
  settings.facts.deployment = request.deployment;
  settings.facts.labels = request.labels;
  std::sort(settings.facts.labels.begin(), settings.facts.labels.end());
  auto result = capture(settings, std::move(sources));
  if (result)
    result->anything = std::any_of(result->manifest.sources.begin(), result->manifest.sources.end(), has_job);
  return result;
}

}  // namespace unhang::collect
