// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks_source.h"

#include <algorithm>
#include <functional>
#include <mutex>

#include "base/parallel.h"
#include "collect/process_states.h"
#include "collect/source_tally.h"
#include "collect/stack_tools.h"
#include "formats/stacks/process_state.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::seconds kLongestPySpy{8};
constexpr std::chrono::seconds kLongestGdb{15};
// gdb needs this much at least to attach and print; with less it would stop the process for nothing.
constexpr std::chrono::milliseconds kShortestGdb{2000};
// From the end of a tool's time to the end of ours: it dies, and the process it held is looked at.
constexpr std::chrono::milliseconds kSpare{1000};
constexpr std::chrono::milliseconds kSecondLook{100};  // at /proc, behind py-spy
// Those that are asked may be mute for the whole budget; after this part of it gdb waits no longer.
constexpr int kPatienceParts = 3, kPatience = 2;

class StackTaker {
 public:
  StackTaker(const StackSearch& search, const OthersAtWork& others, CaptureNames& names,
             CaptureContext& context)
      : x_search(search),
        x_others(others),
        x_names(names),
        x_context(context),
        x_tally(context),
        x_began(context.now()) {}

  SourceOutcome run() {
    if (x_search.workers.empty()) return x_tally.outcome("no worker was found");
    keep_states();
    const bool own_proc = x_search.proc == "/proc";
    if (own_proc) {
      // It stops nobody: nobody has to be looked at when it is ended.
      ask("py-spy", x_tally.real_deadline(kTimeToDie + kSecondLook), kLongestPySpy, ask_py_spy);
    } else {
      x_tally.note("py-spy and gdb were not asked: these are the processes of another /proc");
    }
    if (x_search.sampling.samples > 1) {
      const auto second = x_began + x_search.sampling.gap * (x_search.sampling.samples - 1);
      if (x_context.wait_until(second)) {
        keep_states();
      } else {
        x_tally.note("/proc was looked at once: no time was left for a second look");
      }
    }
    if (own_proc && x_search.native) ask_gdb_last();
    return x_tally.outcome({});
  }

 private:
  void keep_states() {
    std::vector<os::Process> all = x_search.workers;
    all.insert(all.end(), x_search.descendants.begin(), x_search.descendants.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
    const std::int64_t taken = x_context.wall_ns();
    const auto samples = read_process_states(all, x_search.proc, {}, x_tally);
    if (samples.empty()) {
      x_tally.note("the processes have ended");
      return;
    }
    model::BundleFile facts;
    facts.captured_ns = taken;
    facts.path = x_names.next("stacks", taken, x_search.host.empty() ? "host" : x_search.host, "-state.json");
    x_tally.keep(formats::stacks::process_state_json(samples, x_search.host, taken), std::move(facts));
  }

  using Tool = std::function<ToolAnswer(const HelperPrograms&, std::int64_t, ToolDeadline)>;

  void ask(const std::string& name, ToolDeadline end, std::chrono::nanoseconds longest, const Tool& tool) {
    if (!is_installed(x_search.programs, name)) {
      x_tally.note(name + ": not installed");
      return;
    }
    std::vector<const os::Process*> workers;  // the dead have no stacks
    for (const os::Process& worker : x_search.workers) {
      if (!worker.has_ended) workers.push_back(&worker);
    }
    const std::size_t count = std::min(workers.size(), x_search.max_workers);
    if (count < workers.size())
      x_tally.note(name + " was asked of the first " + std::to_string(count) + " of " +
                   std::to_string(workers.size()) + " workers");
    base::parallel_for(count, x_search.side_by_side, [&](std::size_t i) {
      const os::Process& worker = *workers[i];
      const auto now = std::chrono::steady_clock::now();
      if (x_context.stopping() || now >= end) {
        const std::lock_guard lock(x_mutex);
        x_tally.no_answer(name + " was not asked of all workers: no time was left");
        return;
      }
      ToolAnswer answer = tool(x_search.programs, worker.pid, std::min(end, now + longest));
      const std::lock_guard lock(x_mutex);
      take(worker, std::move(answer));
    });
  }

  void take(const os::Process& worker, ToolAnswer answer) {
    if (!answer.trouble.empty()) {
      if (answer.not_allowed) {
        x_tally.not_allowed(answer.trouble);
      } else {
        x_tally.note(answer.trouble);
      }
    }
    if (answer.text.empty()) return;
    model::BundleFile facts;
    facts.captured_ns = x_context.wall_ns();
    facts.path = x_names.next("stacks", facts.captured_ns, std::to_string(worker.pid), answer.ending);
    facts.pid = worker.pid;
    facts.cut = answer.cut;
    x_tally.keep(answer.text, std::move(facts));
  }

  void ask_gdb_last() {
    if (!is_installed(x_search.programs, "gdb")) {
      x_tally.note("gdb: not installed");
      return;
    }
    const auto patience = x_began + (x_context.deadline() - x_began) * kPatience / kPatienceParts;
    while (x_others.any() && x_context.now() < patience) {
      if (!x_context.wait_until(std::min(patience, x_context.now() + std::chrono::milliseconds(100)))) break;
    }
    const auto end = x_tally.real_deadline(kSpare);
    if (x_context.stopping() || end - std::chrono::steady_clock::now() < kShortestGdb) {
      x_tally.note("gdb was not asked: no time was left for it");
      return;
    }
    ask("gdb", end, kLongestGdb, [](const HelperPrograms& programs, std::int64_t pid, ToolDeadline deadline) {
      if (deadline - std::chrono::steady_clock::now() < kShortestGdb)
        return ToolAnswer{.trouble = "gdb was not asked of all workers: no time was left"};
      return ask_gdb(programs, pid, deadline);
    });
  }

  const StackSearch& x_search;
  const OthersAtWork& x_others;
  CaptureNames& x_names;
  CaptureContext& x_context;
  std::mutex x_mutex;  // guards x_tally while tools run
  SourceTally x_tally;
  const CaptureContext::Time x_began;
};

}  // namespace

CaptureSource stacks_source(std::string id, StackSearch search, std::shared_ptr<OthersAtWork> others,
                            std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "stacks";
  source.asked_kind = "search";
  source.asked = "/proc, py-spy and gdb";
  source.run = [search = std::move(search), others = std::move(others), names = std::move(names)](
                   CaptureContext& context) { return StackTaker(search, *others, *names, context).run(); };
  return source;
}

}  // namespace unhang::collect
