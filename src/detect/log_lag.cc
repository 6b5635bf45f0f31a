// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are behind or ahead of their group, as logs tell: PyTorch's desync report names the laggards;
// time-outs at different sequence numbers; one rank alone that gives up has called one collective more than
// the others.
#include <algorithm>
#include <map>

#include "base/rank_set.h"
#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/log_timeouts.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;
using model::WatchdogTimeout;

void add_report(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs& reports = logs.of(LogEventKind::kLaggingRanks);
  if (reports.empty()) return;
  // All ranks print the same report; those who saw less name more.
  const LogEvent* best = reports.front();
  for (const LogEvent* report : reports) {
    if (report->detail.size() < best->detail.size()) best = report;
  }
  const auto ranks = base::parse_ranks(best->detail);
  Explanation found = log_finding(
      logs, Category::kCollectiveDesync, "rank_not_entered", Confidence::kMedium,
      "PyTorch's desync report names " + std::string(ranks && ranks->size() == 1 ? "rank " : "ranks ") +
          best->detail + " as behind" + (best->code == 1 ? ": they never joined a collective" : ""),
      reports);
  if (ranks && ranks->size() <= 64) {
    for (const std::int32_t rank : *ranks) found.other_culprits.push_back(rank_subject(rank));
  }
  out.push_back(std::move(found));
}

// Who stands where: the ranks at a number that most others have passed, or have not reached.
bool add_different_places(const LogAnalysis& logs, const TimeoutGroup& group, std::vector<Explanation>& out) {
  if (group.key.empty() && group.members.size() < 3) return false;
  std::map<std::int64_t, std::vector<const WatchdogTimeout*>> at;
  for (const WatchdogTimeout* timeout : group.members) {
    if (timeout->sequence >= 0) at[timeout->sequence].push_back(timeout);
  }
  if (at.size() < 2) return false;
  const auto most = std::max_element(
      at.begin(), at.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Explanation found = log_finding(
      logs, Category::kCollectiveDesync, "rank_not_entered", Confidence::kLow,
      "the ranks gave up at different places" + (group.label.empty() ? std::string() : " of " + group.label) +
          ": #" + std::to_string(at.begin()->first) + " to #" + std::to_string(at.rbegin()->first),
      {});
  for (const auto& [sequence, timeouts] : at) {
    for (const WatchdogTimeout* timeout : timeouts) {
      if (found.records.size() < 12) found.records.push_back(cite(logs, *timeout));
      if (sequence == most->first && most->second.size() > 1) continue;
      model::Subject subject = subject_of_timeout(logs, group, *timeout);
      subject.why = "stands at #" + std::to_string(sequence);
      if (found.other_suspects.size() < 64) found.other_suspects.push_back(std::move(subject));
    }
  }
  found.where = where_of(group, *most->second.front());
  out.push_back(std::move(found));
  return true;
}

// A barrier shows as ALLREDUCE of one element.
bool is_barrier(const WatchdogTimeout& timeout) {
  return timeout.operation == "BARRIER" || (timeout.operation == "ALLREDUCE" && timeout.elements_in == 1);
}

void add_lone(const LogAnalysis& logs, const TimeoutGroup& group, std::vector<Explanation>& out) {
  if (group.members.size() != 1 || group.collapsed > 0) return;
  const WatchdogTimeout& lone = *group.members.front();
  const bool others_ended = logs.has(LogEventKind::kTrainingEnd);
  if (!is_barrier(lone) && !others_ended) return;
  Explanation found = log_finding(logs, Category::kCollectiveDesync, "extra_collective", Confidence::kLow,
                                  rank_of_timeout(logs, group, lone) +
                                      " alone gave up on a barrier: it has called one collective more than "
                                      "the others, or only its log is here",
                                  {});
  found.records.push_back(cite(logs, lone));
  model::Subject subject = subject_of_timeout(logs, group, lone);
  subject.why = "no other rank waits with it in these logs";
  found.other_suspects.push_back(std::move(subject));
  found.where = where_of(group, lone);
  out.push_back(std::move(found));
}

// The wait of some ranks that most of the group shares, and a few do not.
void add_silent(const LogAnalysis& logs, const TimeoutGroup& group, std::vector<Explanation>& out) {
  if (group.silent.empty()) return;
  Explanation found = log_finding(
      logs, Category::kCollectiveDesync, "rank_not_entered", Confidence::kLow,
      std::to_string(group.members.size()) + " of " + std::to_string(*group.size) + " ranks gave up on " +
          group.members.front()->operation + "; of " + (group.silent.size() == 1 ? "rank " : "ranks ") +
          base::fold_ranks(group.silent) +
          (group.silent.size() == 1 ? " no such line is here: it did not come, or its log is cut"
                                    : " no such line is here: they did not come, or their logs are cut"),
      {});
  for (const WatchdogTimeout* timeout : group.members) {
    if (found.records.size() < 8) found.records.push_back(cite(logs, *timeout));
  }
  const bool world = !group.members.front()->group_description.empty()
                         ? group.members.front()->group_description == "default_pg"
                         : group.key.empty();
  for (const std::int32_t rank : group.silent) {
    if (found.other_suspects.size() >= 64) break;
    model::Subject subject;
    if (world) {
      subject.rank = rank;
    } else {
      subject.group = group.label;
      subject.group_rank = rank;
    }
    subject.why = "absent from the time-outs of its group";
    found.other_suspects.push_back(std::move(subject));
  }
  found.where = where_of(group, *group.members.front());
  out.push_back(std::move(found));
}

}  // namespace

std::vector<Explanation> find_log_lag(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  add_report(logs, out);
  for (const TimeoutGroup& group : logs.timeout_groups) {
    if (add_different_places(logs, group, out)) continue;
    add_lone(logs, group, out);
    add_silent(logs, group, out);
  }
  return out;
}

// What is left of time-outs: everybody who is here gave up in the same operation.
std::vector<Explanation> find_log_symmetric(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present() || logs.timeouts.empty()) return {};
  const TimeoutGroup& group = logs.timeout_groups.front();
  const WatchdogTimeout& first = *group.members.front();
  const bool everybody = group.size && static_cast<std::int32_t>(group.members.size()) == *group.size;
  const std::string what = (first.operation.empty() ? std::string("a collective") : first.operation) +
                           (first.sequence >= 0 ? " #" + std::to_string(first.sequence) : "") +
                           (group.label.empty() ? "" : " of " + group.label);
  const std::size_t count = group.members.size() + static_cast<std::size_t>(group.collapsed);
  Explanation found = log_finding(
      logs, everybody ? Category::kTransportStall : Category::kInconclusive, "unknown", Confidence::kLow,
      everybody ? "all " + std::to_string(*group.size) + " ranks entered " + what + " and none finished"
                : std::to_string(count) + (count == 1 ? " rank" : " ranks") + " gave up on " + what +
                      (group.size ? " of " + std::to_string(*group.size) : std::string()) +
                      "; why the others did not come, or whether they did, these logs do not tell",
      {});
  for (const WatchdogTimeout* timeout : group.members) {
    if (found.records.size() < 8) found.records.push_back(cite(logs, *timeout));
  }
  found.where = where_of(group, first);
  found.tentative = true;
  return {std::move(found)};
}

}  // namespace unhang::detect
