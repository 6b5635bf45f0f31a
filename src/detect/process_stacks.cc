// SPDX-License-Identifier: Apache-2.0
//
// Processes alone: one is stopped or has ended; most ranks stand in a collective and one elsewhere, all of
// them make a communicator, nobody is in communication at all. One look at stacks is a moment of a job that
// may well advance; what it shows is said with low confidence and gives way to everything else. That a
// process is stopped or dead is the kernel's word.
#include <algorithm>
#include <array>
#include <optional>

#include "base/rank_set.h"
#include "detect/detector.h"
#include "detect/process_looks.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using Looks = std::vector<const ProcessLook*>;

std::string who_text(const Looks& looks) {
  std::vector<std::int32_t> ranks;
  for (const ProcessLook* look : looks) {
    if (look->reading->sample.rank >= 0) ranks.push_back(look->reading->sample.rank);
  }
  if (looks.size() == 1) return who_text(*looks.front());
  if (ranks.size() == looks.size()) return "ranks " + base::fold_ranks(ranks);
  return std::to_string(looks.size()) + " processes";
}

class ProcessStacks {
 public:
  explicit ProcessStacks(const model::Case& joined) : x_case(joined), x_looks(latest_looks(joined)) {
    for (const ProcessLook& look : x_looks) of(look.stand).push_back(&look);
  }

  std::vector<Explanation> find(bool has_dumps) {
    if (has_dumps) {
      if (of(Stand::kStopped).empty()) return {};
      return {stopped()};
    }
    const bool halted = std::any_of(x_looks.begin(), x_looks.end(),
                                    [](const ProcessLook& look) { return is_halted(look.stand); });
    if (x_looks.size() < 2 && !halted) return {};
    if (auto found = explain()) return {std::move(*found)};
    return {};
  }

 private:
  Looks& of(Stand stand) { return x_by_stand[static_cast<std::size_t>(stand)]; }

  std::optional<Explanation> explain() {
    const Looks& waits = of(Stand::kWaits);
    const Looks& init = of(Stand::kInit);
    const std::size_t all = x_looks.size();
    if (!of(Stand::kStopped).empty()) return stopped();
    if (!of(Stand::kTraced).empty()) return traced();
    if (!of(Stand::kDead).empty()) return dead();
    if (init.size() * 2 >= all) return initialization();
    if (waits.size() == all) return symmetric();
    if (waits.size() * 2 >= all) return elsewhere();
    if (of(Stand::kHostWork).size() == all) return host_work();
    if (of(Stand::kIdle).size() == all) return idle();
    return {};
  }

  // Whom the frame is about, and who shows it: all of them in two looks, or it is a moment.
  Explanation frame(Category category, std::string_view cause, std::string headline, const Looks& about,
                    const Looks& beside) {
    Explanation out;
    out.category = category;
    out.cause = cause;
    out.headline = std::move(headline);
    const auto is_steady = [](const ProcessLook* look) { return look->steady; };
    const bool steady = std::all_of(about.begin(), about.end(), is_steady) &&
                        (beside.empty() || std::any_of(beside.begin(), beside.end(), is_steady));
    out.strength = steady ? Confidence::kMedium : Confidence::kLow;
    out.state = steady ? model::State::kStopped : model::State::kUnknown;
    out.tentative = !steady;
    if (!steady) out.headline += ", in one look: look again";
    for (const Looks* looks : {&about, &beside}) {
      for (const ProcessLook* look : *looks) {
        if (out.records.size() < kRecords) out.records.push_back(cite(x_case, *look));
      }
    }
    return out;
  }

  void blame(const Looks& looks, bool proven, Explanation& out) const {
    for (const ProcessLook* look : looks) {
      auto& list = proven ? out.other_culprits : out.other_suspects;
      if (list.size() < kSubjects) list.push_back(subject_of(*look));
    }
  }

  Explanation stopped() {
    const Looks& who = of(Stand::kStopped);
    Explanation out = halted("process_stopped", who, " stopped by a signal (state T)");
    // A launcher that is stopped stops nobody.
    const bool ranks_run = !any_rank(who) && any_rank(looks_that_run());
    // The kernel's word, not a guess from a stack.
    out.strength = ranks_run ? Confidence::kLow : Confidence::kMedium;
    out.state = ranks_run ? model::State::kUnknown : model::State::kStopped;
    out.tentative = ranks_run;
    blame(who, !ranks_run, out);
    return out;
  }

  // Whoever looks with gdb holds a process for a moment, too: what counts is that it was so twice.
  Explanation traced() {
    const Looks& who = of(Stand::kTraced);
    Explanation out = halted("process_stopped", who, " held by a debugger (state t)");
    const bool steady = std::all_of(who.begin(), who.end(), [](const ProcessLook* l) { return l->steady; });
    out.strength = steady ? Confidence::kMedium : Confidence::kLow;
    out.state = steady ? model::State::kStopped : model::State::kUnknown;
    out.tentative = !steady;
    blame(who, steady, out);
    return out;
  }

  Explanation dead() {
    const Looks& who = of(Stand::kDead);
    const Looks others = looks_that_run();
    const Looks waiting = those_that_wait();
    const bool missed = !waiting.empty() && waiting.size() * 2 >= others.size();
    Explanation out =
        frame(Category::kProcessOrDeviceUnavailable, "process_exited", {}, who, missed ? waiting : Looks{});
    out.headline = who_text(who) + plural(who.size(), " has", " have") + " ended (state Z)";
    if (missed) out.headline += while_they_wait();
    if (!missed && !others.empty())
      out.headline += "; whether it was a rank that the others need is not known";
    out.strength = missed ? Confidence::kMedium : Confidence::kLow;
    out.state = others.empty() ? model::State::kDead
                : missed       ? model::State::kStopped
                               : model::State::kUnknown;
    out.tentative = !missed && !others.empty();
    blame(who, missed || others.empty(), out);
    return out;
  }

  Looks looks_that_run() const {
    Looks out;
    for (const ProcessLook& look : x_looks) {
      if (!is_halted(look.stand)) out.push_back(&look);
    }
    return out;
  }
  Looks those_that_wait() const {
    Looks out;
    for (const ProcessLook& look : x_looks) {
      if (look.stand == Stand::kWaits || look.stand == Stand::kInit) out.push_back(&look);
    }
    return out;
  }
  std::string while_they_wait() const {
    const Looks waiting = those_that_wait();
    if (waiting.empty()) return {};
    return ", while " + who_text(waiting) + plural(waiting.size(), " waits", " wait") +
           " for others or for the GPU";
  }
  static bool any_rank(const Looks& looks) {
    return std::any_of(looks.begin(), looks.end(),
                       [](const ProcessLook* look) { return look->reading->sample.rank >= 0; });
  }
  Explanation halted(std::string_view cause, const Looks& who, const char* how) {
    Explanation out = frame(Category::kProcessOrDeviceUnavailable, cause, {}, who, looks_that_run());
    out.headline = who_text(who) + plural(who.size(), " is", " are") + how + while_they_wait();
    return out;
  }

  Explanation initialization() {
    Looks others;
    for (const ProcessLook& look : x_looks) {
      if (look.stand != Stand::kInit) others.push_back(&look);
    }
    const Looks& init = of(Stand::kInit);
    std::string headline =
        who_text(init) + plural(init.size(), " is", " are") + " making a communicator or process group";
    if (!others.empty()) headline += ", while " + stand_text(*others.front());
    if (others.size() > 1) headline += " (and " + std::to_string(others.size() - 1) + " more elsewhere)";
    Explanation out =
        frame(Category::kInitializationHang, others.empty() ? "unknown" : "rank_never_joined",
              std::move(headline), others.empty() ? init : others, others.empty() ? Looks{} : init);
    out.phase = model::Phase::kInit;
    if (out.state == model::State::kUnknown) out.state = model::State::kStarting;
    blame(others, false, out);
    out.alternatives.push_back(
        {.category = Category::kHealthy,
         .cause = "unknown",
         .speaks_for = {"every job is in its initialisation once"},
         .speaks_against = {},
         .decide_by = "look again in ten seconds, and NCCL_DEBUG=INFO: unhang logs init"});
    return out;
  }

  Explanation symmetric() {
    Explanation out = frame(Category::kTransportStall, "unknown",
                            "all " + std::to_string(x_looks.size()) +
                                " processes looked at wait in a collective or for their GPUs",
                            of(Stand::kWaits), {});
    out.alternatives.push_back({.category = Category::kHealthy,
                                .cause = "unknown",
                                .speaks_for = {"a busy job waits for its GPUs most of the time"},
                                .speaks_against = {},
                                .decide_by = "look again in ten seconds: does any stack change?"});
    return out;
  }

  // Most wait. Who works on its host is the one; else a few in code that says nothing are at least suspect.
  std::optional<Explanation> elsewhere() {
    const Looks& waits = of(Stand::kWaits);
    Looks odd = of(Stand::kHostWork);
    const bool working = !odd.empty();
    if (!working) odd = of(Stand::kUnknown);
    if (odd.empty() || odd.size() * 2 > waits.size()) return {};
    std::string headline = stand_text(*odd.front());
    if (odd.size() > 1) headline += " (and " + std::to_string(odd.size() - 1) + " more elsewhere)";
    headline += ", while " + who_text(waits) + plural(waits.size(), " waits", " wait") +
                " in a collective or for the GPU";
    Explanation out = frame(Category::kCollectiveDesync, "rank_not_entered", std::move(headline), odd, waits);
    if (working) out.root = "host_blocked";
    blame(odd, working && out.strength != Confidence::kLow, out);
    out.alternatives.push_back({.category = Category::kHealthy,
                                .cause = "unknown",
                                .speaks_for = {"in a job that advances somebody is always the last"},
                                .speaks_against = {},
                                .decide_by = "look again in ten seconds: the same stack twice is a hang"});
    return out;
  }

  Explanation host_work() {
    const ProcessLook& first = x_looks.front();
    const bool start = std::all_of(x_looks.begin(), x_looks.end(), [](const ProcessLook& look) {
      return look.activity.what == model::Activity::kWeightLoading ||
             look.activity.what == model::Activity::kCompilation;
    });
    Looks all;
    for (const ProcessLook& look : x_looks) all.push_back(&look);
    Explanation out = frame(
        Category::kNotCommunication, start ? "after_init" : "unknown",
        "nobody is inside communication: " + who_text(all) + " work on their hosts; " + stand_text(first),
        all, {});
    if (start) out.phase = model::Phase::kInit;
    return out;
  }

  Explanation idle() {
    Explanation out = frame(Category::kNotCommunication, "unknown",
                            "all processes looked at wait for requests", of(Stand::kIdle), {});
    out.headline = "nobody is inside communication: all " + std::to_string(x_looks.size()) +
                   " processes looked at wait for requests";
    out.state = model::State::kIdle;
    out.strength = Confidence::kLow;
    out.tentative = true;
    return out;
  }

  static constexpr std::size_t kRecords = 8;
  static constexpr std::size_t kSubjects = 64;
  const model::Case& x_case;
  std::vector<ProcessLook> x_looks;
  std::array<Looks, kStands> x_by_stand;
};

}  // namespace

std::vector<Explanation> find_process_stacks(const Analysis& analysis) {
  // Dumps show who waits for whom; stacks then only tell why (stack_reason.h).
  return ProcessStacks(analysis.joined).find(analysis.joined.has_dumps);
}

}  // namespace unhang::detect
