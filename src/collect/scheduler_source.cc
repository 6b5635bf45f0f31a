// SPDX-License-Identifier: Apache-2.0
#include "collect/scheduler_source.h"

#include <algorithm>

#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "os/child_reader.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::seconds kLongestAnswer{8};
constexpr std::size_t kMaxJobs = 4;
// The time stands first, as in a log.
constexpr std::string_view kEventColumns =
    "custom-columns=TIME:.lastTimestamp,FIRST:.firstTimestamp,COUNT:.count,TYPE:.type,REASON:.reason,"
    "KIND:.involvedObject.kind,NAME:.involvedObject.name,MESSAGE:.message";

class SchedulerAsker {
 public:
  SchedulerAsker(const SchedulerPlace& place, CaptureNames& names, CaptureContext& context)
      : x_place(place), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    ask_kubernetes();
    std::size_t asked = 0;
    for (const std::string& job : x_place.jobs) {
      if (is_slurm_job(job) && asked++ < kMaxJobs) ask_slurm(job);
    }
    return x_tally.outcome("neither in a pod with an account nor in a job of Slurm");
  }

 private:
  void ask_kubernetes() {
    const std::vector<os::ReadRequest> files{{.path = x_place.account + "/namespace", .max_bytes = 256},
                                             {.path = x_place.account + "/token", .max_bytes = 0}};
    const auto replies = os::read_in_child(files, x_tally.read_deadlines());
    const std::string& name = replies[0].bytes;
    if (!replies[0].usable()) return;  // no pod, or one without an account
    if (!replies[1].usable()) {
      x_tally.not_readable("the token of the pod's account", replies[1]);
      return;
    }
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos ||
        name.front() == '-') {
      x_tally.note("the pod's namespace is no name");
      return;
    }
    const std::vector<std::string> common{"-n", name, "--request-timeout=6s", "-o"};
    ask({"kubectl", "get", "events", "--sort-by=.lastTimestamp"}, common, std::string(kEventColumns),
        "kubernetes-events.log");
    ask({"kubectl", "get", "pods"}, common, "wide", "kubernetes-pods.txt");
    if (!x_place.pod.empty() && x_place.pod.front() != '-')
      ask({"kubectl", "get", "pod", x_place.pod}, common, "jsonpath={.status}", "kubernetes-pod-status.txt");
  }

  void ask(std::vector<std::string> words, const std::vector<std::string>& common, const std::string& form,
           std::string_view name) {
    words.insert(words.end(), common.begin(), common.end());
    words.push_back(form);
    if (x_tally.context().stopping()) return;
    run_and_keep(x_place.programs, {.words = std::move(words), .limit = kLongestAnswer}, "scheduler", name,
                 x_names, x_tally);
  }

  void ask_slurm(const std::string& job) {
    const HelperRun show{.words = {"scontrol", "show", "job", "-d", job}, .limit = kLongestAnswer};
    const os::ProgramReply reply = run_helper(x_place.programs, show, x_tally);
    if (!reply.output.empty()) {
      model::BundleFile facts;
      facts.captured_ns = x_tally.context().wall_ns();
      facts.path = x_names.next("scheduler", facts.captured_ns, "slurm-job-" + job, ".txt");
      facts.note = "scontrol show job -d " + job;
      x_tally.keep(without_secrets_in_text(without_commands(reply.output)), std::move(facts));
    }
    if (!is_installed(x_place.programs, "sacct") || x_tally.context().stopping()) return;
    run_and_keep(x_place.programs,
                 {.words = {"sacct", "-P", "-j", job, "-o",
                            "JobID,State,ExitCode,DerivedExitCode,Start,End,Elapsed,NNodes,NodeList,MaxRSS"},
                  .limit = kLongestAnswer},
                 "scheduler", "slurm-steps-" + job + ".txt", x_names, x_tally);
  }

  const SchedulerPlace& x_place;
  CaptureNames& x_names;
  SourceTally x_tally;
};

}  // namespace

bool is_slurm_job(std::string_view text) {
  return !text.empty() && text.size() <= 32 && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789_+.") == std::string_view::npos;
}

std::string without_commands(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (!words.starts_with("Command=") && !words.starts_with("SubmitLine=")) out.append(line).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

CaptureSource scheduler_source(std::string id, SchedulerPlace place, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "scheduler";
  source.asked_kind = "search";
  source.asked = "Kubernetes and Slurm";
  source.run = [place = std::move(place), names = std::move(names)](CaptureContext& context) {
    return SchedulerAsker(place, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
