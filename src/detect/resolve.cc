// SPDX-License-Identifier: Apache-2.0
#include "detect/resolve.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/rank_set.h"
#include "detect/detector.h"
#include "detect/evidence_book.h"
#include "detect/fault_times.h"
#include "detect/host_times.h"
#include "detect/incident_timeline.h"
#include "detect/iterations.h"
#include "detect/ledger.h"
#include "detect/living_program.h"
#include "detect/log_reason.h"
#include "detect/nothing_wrong.h"
#include "detect/rank_alternatives.h"
#include "detect/recovery_plan.h"
#include "detect/stack_reason.h"
#include "detect/stall_place.h"
#include "detect/stall_start.h"
#include "detect/time_lost.h"
#include "detect/wording.h"
#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::Operation;
using model::RankIndex;
using model::Verdict;

struct Found {
  std::string_view detector;
  Explanation explanation;
};

class Resolver {
 public:
  explicit Resolver(const model::Case& joined)
      : x_case(joined),
        x_analysis(analyse(joined)),
        x_times(joined),
        x_stall(find_stall_start(x_analysis, x_times)),
        x_book(joined, x_verdict.evidence) {}

  Verdict resolve() {
    for (const Detector& detector : detector_catalogue()) {
      for (Explanation& explanation : detector.run(x_analysis)) {
        CHECK(model::find_cause(explanation.cause) != nullptr);
        doubt_words_of_the_living(x_case, explanation);
        for (auto* subjects : {&explanation.other_culprits, &explanation.other_suspects}) {
          for (model::Subject& subject : *subjects) x_analysis.names.complete(subject);
        }
        x_found.push_back({detector.id, std::move(explanation)});
      }
    }
    weigh_times();
    add_reason_from_logs();
    add_reason_from_stacks();
    const Found* chosen = choose();
    if (chosen != nullptr) {
      take(chosen->explanation);
      agree_with_ras(*chosen);
    } else if (!x_analysis.waits.stalls.empty()) {
      nothing_explains();
    } else {
      say_nothing_wrong(x_analysis, x_verdict);
    }
    add_findings();
    add_alternatives(chosen);
    add_victims(chosen);
    add_stacks(chosen);
    fill_ledger(x_analysis, x_verdict);
    add_timeline(x_analysis, x_times, x_stall, chosen != nullptr ? &chosen->explanation : nullptr, x_book,
                 x_verdict);
    fill_time_lost(x_case, x_verdict);
    x_verdict.recovery = plan_recovery(x_analysis, x_verdict,
                                       chosen != nullptr && !chosen->explanation.culprits.empty()
                                           ? ranks_text(x_case, chosen->explanation.culprits)
                                           : std::string());
    return std::move(x_verdict);
  }

 private:
  // The first in the order of the catalogue that explains a stall; within one detector the earliest in time.
  // A tentative one only where there is nothing else.
  const Found* choose() const {
    const Found* firm = choose(false);
    return firm != nullptr ? earliest(*firm) : choose(true);
  }

  // Of two causes that only logs tell the one that surely came first explains the other, in whatever order
  // detectors are asked.
  const Found* earliest(const Found& chosen) const {
    const Found* best = &chosen;
    if (!is_of_logs(chosen) || !when(chosen)) return best;
    for (const Found& found : x_found) {
      const Explanation& told = found.explanation;
      if (!is_of_logs(found) || !told.explains_stall || told.tentative ||
          told.strength > best->explanation.strength)
        continue;
      const auto its = when(found);
      constexpr std::int64_t kClearly = 60'000'000'000;
      if (its && x_times.surely_before(*its, *when(*best), kClearly)) best = &found;
    }
    return best;
  }

  std::optional<Moment> when(const Found& found) const {
    return happened(x_analysis, x_times, found.explanation);
  }

  const Found* choose(bool tentative) const {
    const Found* best = nullptr;
    for (const Found& found : x_found) {
      if (!found.explanation.explains_stall || found.explanation.tentative != tentative) continue;
      if (best == nullptr) {
        best = &found;
      } else if (found.detector == best->detector &&
                 time_of(found.explanation) < time_of(best->explanation)) {
        best = &found;
      }
    }
    return best;
  }

  std::int64_t time_of(const Explanation& explanation) const {
    return explanation.at
               ? x_case.ranks[explanation.at->rank].operations[explanation.at->operation].created_ns
               : 0;
  }

  void take(const Explanation& explanation) {
    x_verdict.category = explanation.category;
    x_verdict.cause = explanation.cause;
    x_verdict.phase = explanation.phase;
    x_verdict.state = explanation.state;
    x_verdict.confidence = explanation.strength;
    // Which dumps belong together was a choice, too.
    if (count_strangers(x_case) > 0 && x_verdict.confidence == Confidence::kHigh)
      x_verdict.confidence = Confidence::kMedium;
    x_verdict.root = explanation.root;
    x_verdict.headline = explanation.headline;
    const model::CauseInfo* info = model::find_cause(explanation.cause);
    x_verdict.fault_domain = info != nullptr ? info->fault_domain : model::FaultDomain::kUnknown;
    add_subjects(explanation);
    if (explanation.where) x_verdict.where = *explanation.where;
    if (explanation.at) locate(*explanation.at);
  }

  static bool is_of_logs(const Found& found) { return found.detector.starts_with("log_"); }

  // The first reason in the logs that fits what dumps or RAS show takes its place.
  void add_reason_from_logs() {
    const Found* chosen = choose();
    if (chosen == nullptr || is_of_logs(*chosen)) return;
    for (const Found& found : x_found) {
      if (!is_of_logs(found)) continue;
      if (auto joined = with_reason(x_case, x_analysis.names, chosen->explanation, found.explanation,
                                    &x_analysis.logs)) {
        x_found[static_cast<std::size_t>(chosen - x_found.data())].explanation = std::move(*joined);
        return;
      }
    }
  }

  void add_reason_from_stacks() {
    const Found* chosen = choose();
    if (chosen == nullptr) return;
    if (auto joined = with_stack_reason(x_case, chosen->explanation))
      x_found[static_cast<std::size_t>(chosen - x_found.data())].explanation = std::move(*joined);
  }

  // What RAS counts say of the same ranks is a second witness.
  void agree_with_ras(const Found& chosen) {
    // What ras_alive says rests on the same counts.
    if (chosen.detector == "ras_lag" || chosen.detector == "ras_alive" || chosen.explanation.culprits.empty())
      return;
    for (const Found& found : x_found) {
      if (found.detector != "ras_lag" || found.explanation.culprits != chosen.explanation.culprits) continue;
      for (std::size_t i = 0; i < found.explanation.why.size() && i < x_verdict.culprits.size(); ++i)
        x_verdict.culprits[i].why += "; RAS: it " + found.explanation.why[i];
      if (x_verdict.confidence == Confidence::kMedium && count_strangers(x_case) == 0)
        x_verdict.confidence = Confidence::kHigh;
    }
  }

  model::Subject subject_of(RankIndex index) const {
    model::Subject subject;
    subject.rank = x_case.ranks[index].global_rank;
    const model::Rank& rank = x_case.ranks[index];
    subject.host = rank.host;
    if (rank.pid >= 0) subject.pid = rank.pid;
    if (rank.cuda_device >= 0) subject.gpu = std::to_string(rank.cuda_device);
    return subject;
  }

  void add_subjects(const Explanation& explanation) {
    std::map<RankIndex, std::vector<model::EvidenceId>> cited;
    for (const OperationRef& ref : explanation.evidence) cited[ref.rank].push_back(x_book.cite(ref));
    for (std::size_t i = 0; i < explanation.culprits.size(); ++i) {
      const RankIndex index = explanation.culprits[i];
      model::Subject subject = subject_of(index);
      if (!explanation.why.empty()) subject.why = explanation.why[std::min(i, explanation.why.size() - 1)];
      if (explanation.is_pair && explanation.culprits.size() == 2) {
        subject.peer = x_case.ranks[explanation.culprits[1 - i]].global_rank;
      }
      subject.evidence = cited[index];
      x_verdict.culprits.push_back(std::move(subject));
    }
    for (const RankIndex index : explanation.suspects) {
      model::Subject subject = subject_of(index);
      subject.why = x_case.ranks[index].input || !x_case.has_dumps ? "its evidence fits, but does not decide"
                                                                   : "it left no usable dump";
      subject.evidence = cited[index];
      x_verdict.suspects.push_back(std::move(subject));
    }
    std::vector<model::EvidenceId> records;
    for (const model::EvidenceItem& item : explanation.records) records.push_back(x_book.cite(item));
    // Of thousands of communicators the first few show it; each subject carries its citations.
    constexpr std::size_t kRecordsAtMost = 16;
    if (records.size() > kRecordsAtMost) records.resize(kRecordsAtMost);
    for (model::Subject& subject : x_verdict.culprits) {
      if (subject.evidence.empty()) subject.evidence = records;
    }
    for (model::Subject subject : explanation.other_culprits) {
      subject.evidence = records;
      x_verdict.culprits.push_back(std::move(subject));
    }
    for (model::Subject subject : explanation.other_suspects) {
      subject.evidence = records;
      x_verdict.suspects.push_back(std::move(subject));
    }
  }

  void locate(const OperationRef& at) {
    const Operation& op = x_case.ranks[at.rank].operations[at.operation];
    x_verdict.where.group = x_case.group_label(op.group);
    x_verdict.where.operation = call_text(x_case, op);
    const bool p2p = op.has(Operation::kP2p);
    const std::int64_t ordinal = p2p ? op.p2p_sequence : op.collective_sequence;
    if (ordinal >= 0) x_verdict.where.ordinal = ordinal;
    x_verdict.where.stack = stack_lines(x_case, op.stack);
    if (p2p) return;
    if (const auto period = find_period(x_case, op.group))
      x_verdict.where.iteration = period->iteration(ordinal);
  }

  void nothing_explains() {
    x_verdict.category = Category::kInconclusive;
    x_verdict.cause = "unknown";
    x_verdict.state = model::State::kStopped;
    x_verdict.confidence = Confidence::kLow;
    x_verdict.headline = "operations are open and nothing in the dumps explains why";
  }

  void add_findings() {
    std::map<std::string_view, int> numbers;
    for (const Found& found : x_found) {
      const Explanation& explanation = found.explanation;
      model::Finding finding;
      finding.id = std::string(found.detector) + "-" + std::to_string(++numbers[found.detector]);
      finding.category = explanation.category;
      finding.cause = explanation.cause;
      finding.strength = explanation.strength;
      finding.text = explanation.headline;
      for (std::size_t i = 0; i < explanation.culprits.size(); ++i) {
        finding.culprits.push_back(subject_of(explanation.culprits[i]));
        if (!explanation.why.empty())
          finding.culprits.back().why = explanation.why[std::min(i, explanation.why.size() - 1)];
      }
      finding.culprits.insert(finding.culprits.end(), explanation.other_culprits.begin(),
                              explanation.other_culprits.end());
      for (const OperationRef& ref : explanation.evidence) finding.evidence.push_back(x_book.cite(ref));
      for (const model::EvidenceItem& item : explanation.records)
        finding.evidence.push_back(x_book.cite(item));
      finding.rules_out = explanation.rules_out;
      x_verdict.findings.push_back(std::move(finding));
    }
    add_conflicts();
  }

  // Two sources that name somebody differently: worth knowing before anybody is blamed.
  void add_conflicts() {
    int number = 0;
    for (const model::Conflict& conflict : x_case.conflicts) {
      model::Finding finding;
      finding.id = "identity-" + std::to_string(++number);
      finding.cause = "unknown";
      finding.text = "sources contradict each other about who is who: " + conflict.text;
      model::EvidenceItem item;
      item.file = x_case.inputs[conflict.input].path;
      item.text = conflict.text;
      finding.evidence.push_back(x_book.cite(item));
      x_verdict.findings.push_back(std::move(finding));
    }
  }

  void add_alternatives(const Found* chosen) {
    if (chosen == nullptr) return;
    std::vector<const Explanation*> others;
    for (const Found& found : x_found) {
      if (&found != chosen) others.push_back(&found.explanation);
    }
    x_verdict.alternatives = rank_alternatives(x_case, chosen->explanation, std::move(others));
  }

  // Everybody who stands somewhere and is not to blame.
  void add_victims(const Found* chosen) {
    std::set<std::int32_t> blamed;
    for (const auto& subject : x_verdict.culprits) {
      if (subject.rank) blamed.insert(*subject.rank);
    }
    if (chosen != nullptr && x_analysis.waits.stalls.empty()) add_told_victims(chosen->explanation);
    std::set<std::string> groups;
    std::set<std::string> hosts;
    for (RankIndex index = 0; index < x_case.ranks.size(); ++index) {
      const RankWaits& waits = x_analysis.waits.ranks[index];
      if (!waits.waits() && !waits.stands()) continue;
      const model::Rank& rank = x_case.ranks[index];
      x_verdict.blast_radius.ranks.push_back(rank.global_rank);
      if (!rank.host.empty()) hosts.insert(rank.host);
      const Stall& stall =
          x_analysis.waits.stalls[waits.waits() ? waits.waits_in.front() : waits.stands_in.front()];
      if (blamed.count(rank.global_rank) != 0) continue;
      model::Subject victim = subject_of(index);
      victim.group = x_case.group_label(stall.group);
      const auto& for_whom = stall.absent.empty() ? stall.unknown : stall.absent;
      victim.why = for_whom.empty() ? "stands in an operation that everyone has entered"
                                    : "waits for " + ranks_text(x_case, for_whom);
      x_verdict.victims.push_back(std::move(victim));
    }
    if (x_analysis.waits.stalls.empty()) return;
    for (const Stall& stall : x_analysis.waits.stalls) groups.insert(x_case.group_label(stall.group));
    x_verdict.blast_radius.groups.assign(groups.begin(), groups.end());
    x_verdict.blast_radius.hosts.assign(hosts.begin(), hosts.end());
  }

  // Those whom no dump shows waiting, and an explanation does.
  void add_told_victims(const Explanation& explanation) {
    std::set<std::string> hosts;
    for (const RankIndex index : explanation.waiting) {
      model::Subject victim = subject_of(index);
      x_verdict.blast_radius.ranks.push_back(*victim.rank);
      if (!victim.host.empty()) hosts.insert(victim.host);
      victim.group = x_verdict.where.group;
      victim.why = "is in a communicator with the culprits";
      x_verdict.victims.push_back(std::move(victim));
    }
    if (!x_verdict.where.group.empty() && !explanation.waiting.empty())
      x_verdict.blast_radius.groups.push_back(x_verdict.where.group);
    x_verdict.blast_radius.hosts.assign(hosts.begin(), hosts.end());
  }

  // Ranks that stand in the same stack share one entry: culprits by their last call, waiters by where they
  // wait.
  void add_stacks(const Found* chosen) {
    std::map<model::StackId, std::vector<std::int32_t>> waiting;
    std::map<model::StackId, std::vector<std::int32_t>> culprits;
    std::map<model::StackId, std::vector<std::int32_t>> finished;
    std::set<RankIndex> blamed;
    if (chosen != nullptr)
      blamed.insert(chosen->explanation.culprits.begin(), chosen->explanation.culprits.end());
    for (const RankIndex index : blamed) {
      const model::Rank& rank = x_case.ranks[index];
      if (rank.operations.empty()) continue;
      const Operation* op = &rank.operations.back();
      for (const OperationRef& ref : chosen->explanation.evidence) {
        if (ref.rank == index) op = &rank.operations[ref.operation];
      }
      // Where it was last seen is not where it is: said so, lest somebody reads the wrong line.
      (op->has(Operation::kFinished) ? finished : culprits)[op->stack].push_back(rank.global_rank);
    }
    for (const Stall& stall : x_analysis.waits.stalls) {
      for (const RankIndex index : stall.waiting) {
        if (blamed.count(index) != 0) continue;
        const model::StackId stack = stack_of(stall, index);
        auto& ranks = waiting[stack];
        if (ranks.empty() || ranks.back() != x_case.ranks[index].global_rank)
          ranks.push_back(x_case.ranks[index].global_rank);
      }
    }
    append_stacks(culprits, "culprit");
    append_stacks(finished, "culprit, last finished call");
    append_stacks(waiting, "waiting");
  }

  model::StackId stack_of(const Stall& stall, RankIndex index) const {
    return x_case.ranks[index].operations[place_of(x_analysis, stall, index).operation].stack;
  }

  void append_stacks(std::map<model::StackId, std::vector<std::int32_t>>& stacks, const char* role) {
    std::vector<model::RankStack> out;
    for (auto& [stack, ranks] : stacks) {
      if (stack == 0) continue;
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      out.push_back({ranks, role, stack_lines(x_case, stack)});
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size() : a.ranks < b.ranks;
    });
    for (auto& stack : out) x_verdict.stacks.push_back(std::move(stack));
  }

  // Evidence from after the stall had begun explains nothing.
  void weigh_times() {
    for (Found& found : x_found) {
      const bool machine = found.detector == "log_device_fault" || found.detector == "log_link";
      if (is_of_logs(found)) weigh_fault_times(x_analysis, x_times, x_stall, machine, found.explanation);
    }
  }

  const model::Case& x_case;
  Analysis x_analysis;
  HostTimes x_times;
  std::optional<StallStart> x_stall;
  Verdict x_verdict;
  EvidenceBook x_book;
  std::vector<Found> x_found;
};

}  // namespace

Verdict diagnose(const model::Case& joined) {
  return Resolver(joined).resolve();
}

}  // namespace unhang::detect
