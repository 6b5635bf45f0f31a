// SPDX-License-Identifier: Apache-2.0
#include "detect/resolve.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/rank_set.h"
#include "base/time_text.h"
#include "detect/detector.h"
#include "detect/evidence_book.h"
#include "detect/iterations.h"
#include "detect/recovery_advice.h"
#include "detect/stall_place.h"
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
      : x_case(joined), x_analysis(analyse(joined)), x_book(joined, x_verdict.evidence) {}

  Verdict resolve() {
    for (const Detector& detector : detector_catalogue()) {
      for (Explanation& explanation : detector.run(x_analysis)) {
        CHECK(model::find_cause(explanation.cause) != nullptr);
        x_found.push_back({detector.id, std::move(explanation)});
      }
    }
    const Found* chosen = choose();
    if (chosen != nullptr) {
      take(chosen->explanation);
    } else if (!x_analysis.waits.stalls.empty()) {
      nothing_explains();
    } else {
      healthy();
    }
    add_findings();
    add_alternatives(chosen);
    add_victims();
    add_stacks(chosen);
    add_coverage();
    add_clocks_and_timeline(chosen);
    add_progress();
    add_not_seen();
    x_verdict.recovery = advise(x_verdict, chosen != nullptr && !chosen->explanation.culprits.empty()
                                               ? ranks_text(x_case, chosen->explanation.culprits)
                                               : std::string());
    return std::move(x_verdict);
  }

 private:
  // The first in the order of the catalogue that explains a stall; within one detector the earliest in time.
  const Found* choose() const {
    const Found* best = nullptr;
    for (const Found& found : x_found) {
      if (!found.explanation.explains_stall) continue;
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
    if (count_strangers() > 0 && x_verdict.confidence == Confidence::kHigh)
      x_verdict.confidence = Confidence::kMedium;
    x_verdict.headline = explanation.headline;
    const model::CauseInfo* info = model::find_cause(explanation.cause);
    x_verdict.fault_domain = info != nullptr ? info->fault_domain : model::FaultDomain::kUnknown;
    add_subjects(explanation);
    if (explanation.at) locate(*explanation.at);
  }

  // Dumps set aside as of another job or run, not as another dump of the same process.
  std::size_t count_strangers() const {
    return static_cast<std::size_t>(
        std::count_if(x_case.set_aside.begin(), x_case.set_aside.end(),
                      [](const model::SetAside& aside) { return !aside.is_second; }));
  }

  model::Subject subject_of(RankIndex index) const {
    model::Subject subject;
    subject.rank = x_case.ranks[index].global_rank;
    subject.host = x_case.ranks[index].host;
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
      subject.why =
          x_case.ranks[index].input ? "its evidence fits, but does not decide" : "it left no usable dump";
      subject.evidence = cited[index];
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

  // Nothing stands anywhere. That is good news only about evidence that reaches to the end, and of the one
  // job in it.
  void healthy() {
    const std::size_t strangers = count_strangers();
    const auto whole = std::count_if(x_case.ranks.begin(), x_case.ranks.end(),
                                     [](const model::Rank& rank) { return rank.tail_known; });
    const bool enough = whole > 0 && std::cmp_greater_equal(whole * 2, x_case.ranks.size()) && strangers == 0;
    x_verdict.category = enough ? Category::kHealthy : Category::kInconclusive;
    x_verdict.cause = "unknown";
    x_verdict.state = model::State::kUnknown;
    x_verdict.confidence = Confidence::kLow;
    std::size_t operations = 0;
    std::size_t dumps = 0;
    for (const model::Rank& rank : x_case.ranks) {
      operations += rank.operations.size();
      dumps += rank.input ? 1 : 0;
    }
    x_verdict.headline =
        operations == 0 ? "the dumps of " + std::to_string(dumps) + plural(dumps, " rank", " ranks") +
                              " hold no operations: nothing wrong is seen"
                        : "nothing wrong is seen: all " + std::to_string(operations) + " operations of " +
                              std::to_string(dumps) + plural(dumps, " rank", " ranks") + " are finished";
    if (whole == 0)
      x_verdict.headline = "too little was read to say anything: no dump could be used to its end";
    if (whole > 0 && std::cmp_less(whole * 2, x_case.ranks.size())) {
      x_verdict.headline = "too little was read to say anything: only " + std::to_string(whole) + " of " +
                           std::to_string(x_case.ranks.size()) + " ranks left a whole dump";
    }
    if (strangers != 0) {
      x_verdict.headline += "; " + std::to_string(strangers) + plural(strangers, " file was", " files were") +
                            " set aside as not of this job (-v): diagnose them by themselves";
    }
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
      for (const OperationRef& ref : explanation.evidence) finding.evidence.push_back(x_book.cite(ref));
      finding.rules_out = explanation.rules_out;
      x_verdict.findings.push_back(std::move(finding));
    }
  }

  void add_alternatives(const Found* chosen) {
    if (chosen == nullptr) return;
    x_verdict.alternatives = chosen->explanation.alternatives;
    for (const Found& found : x_found) {
      if (&found == chosen || !found.explanation.explains_stall) continue;
      if (found.explanation.cause == chosen->explanation.cause ||
          found.explanation.category == Category::kHealthy)
        continue;
      x_verdict.alternatives.push_back(
          {.category = found.explanation.category,
           .cause = found.explanation.cause,
           .speaks_for = {found.explanation.headline},
           .speaks_against = {"the cause named above explains it"},
           .decide_by = "how to be sure: unhang explain " + std::string(found.explanation.cause)});
    }
  }

  // Everybody who stands somewhere and is not to blame.
  void add_victims() {
    std::set<std::int32_t> blamed;
    for (const auto& subject : x_verdict.culprits) blamed.insert(*subject.rank);
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
    for (const Stall& stall : x_analysis.waits.stalls) groups.insert(x_case.group_label(stall.group));
    x_verdict.blast_radius.groups.assign(groups.begin(), groups.end());
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

  void add_coverage() {
    x_verdict.expected_ranks = x_case.ranks.size();
    for (const model::CoverageRow& row : x_case.coverage) {
      x_verdict.coverage.push_back({row.source, x_case.global_ranks(row.seen),
                                    x_case.global_ranks(row.partial), x_case.global_ranks(row.unreadable),
                                    x_case.global_ranks(row.absent)});
    }
  }

  void add_clocks_and_timeline(const Found* chosen) {
    if (chosen == nullptr) return;
    std::vector<std::pair<std::int64_t, OperationRef>> events;
    for (const OperationRef& ref : chosen->explanation.evidence) {
      const std::int64_t time = x_case.ranks[ref.rank].operations[ref.operation].created_ns;
      if (time > 0) events.push_back({time, ref});
    }
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first, a.second.rank, a.second.operation) <
             std::tuple(b.first, b.second.rank, b.second.operation);
    });
    for (const auto& [time, ref] : events) {
      const model::Rank& rank = x_case.ranks[ref.rank];
      x_verdict.timeline.push_back({base::utc_text(time),
                                    "host",
                                    rank.host,
                                    "rank " + std::to_string(rank.global_rank) + " calls " +
                                        operation_text(x_case, rank.operations[ref.operation]),
                                    {x_book.cite(ref)}});
    }
  }

  void add_progress() {
    model::ProgressSignal signal{.signal = "flight_recorder_sequence",
                                 .scope = "all groups",
                                 .usable = false,
                                 .why_not = "one dump shows a moment, not movement",
                                 .last_moved = {}};
    std::int64_t newest = 0;
    for (const model::Rank& rank : x_case.ranks) {
      for (const Operation& op : rank.operations) newest = std::max(newest, op.completed_ns);
    }
    if (newest > 0) signal.last_moved = base::utc_text(newest);
    x_verdict.progress.push_back(std::move(signal));
  }

  void add_not_seen() {
    auto& out = x_verdict.not_seen;
    const std::size_t strangers = count_strangers();
    if (strangers > 0) {
      out.push_back(std::to_string(strangers) + plural(strangers, " dump", " dumps") +
                    " of other jobs or runs: give them by themselves");
    }
    for (const auto& row : x_verdict.coverage) {
      if (!row.absent.empty())
        out.push_back("no dump of " + std::string(row.absent.size() == 1 ? "rank " : "ranks ") +
                      base::fold_ranks(row.absent));
      if (!row.unreadable.empty())
        out.push_back("unreadable dump of " + std::string(row.unreadable.size() == 1 ? "rank " : "ranks ") +
                      base::fold_ranks(row.unreadable));
      if (!row.partial.empty())
        out.push_back("incomplete dump of " + std::string(row.partial.size() == 1 ? "rank " : "ranks ") +
                      base::fold_ranks(row.partial));
    }
    for (const auto& input : x_case.inputs) {
      for (const auto& problem : input.problems) {
        if (problem.code == "refused_opcode")
          out.push_back("refused as hostile: " + input.path + " (" + problem.text + ")");
      }
    }
    for (const auto& conflict : x_case.conflicts)
      out.push_back(x_case.inputs[conflict.input].path + ": " + conflict.text);
    bool gloo = false;
    for (const auto& group : x_case.groups) gloo = gloo || x_case.is_gloo(group);
    if (gloo) out.push_back("point-to-point work of gloo groups: gloo records none");
    out.push_back(
        "what the Flight Recorder never sees: CUDA graph replays, custom all-reduce, NCCL called directly by "
        "the engine");
  }

  const model::Case& x_case;
  Analysis x_analysis;
  Verdict x_verdict;
  EvidenceBook x_book;
  std::vector<Found> x_found;
};

}  // namespace

Verdict diagnose(const model::Case& joined) {
  return Resolver(joined).resolve();
}

}  // namespace unhang::detect
