// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's Flight Recorder: whether it keeps calls, whether they get out, and where to.
#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

constexpr std::int64_t kUsualRing = 2000;  // PyTorch's own tutorial and default
constexpr std::int64_t kSmallRing = 200;   // less than one training step of a large model
// Stacks of more entries are rarely symbolised within the 15 s that a dump gets.
constexpr std::int64_t kLargeRing = 20'000;
// Measured on dumps of PyTorch 2.14 with 8 frames an entry: the frames of large dumps are shared.
constexpr std::int64_t kLeastBytes = 170, kMostBytes = 510;

std::string_view ring_name(const EnvSubject& subject) {
  return subject.software.torch_since(8) ? "TORCH_FR_BUFFER_SIZE" : "TORCH_NCCL_TRACE_BUFFER_SIZE";
}
std::string_view dump_name(const EnvSubject& subject) {
  return subject.software.torch_since(15) ? "TORCH_FR_DUMP_ON_TIMEOUT" : "TORCH_NCCL_DUMP_ON_TIMEOUT";
}

// TensorRT-LLM makes its own communicators: nothing of PyTorch's records them.
bool has_recorder(const EnvSubject& subject) {
  return subject.software.engine != Engine::kTrtllm && subject.software.torch_since(2);
}

std::vector<std::string> place_of(const EnvSubject& subject, std::string_view new_name) {
  const Variable* found = find_under_any_name(subject.environment, subject.software, new_name);
  return found != nullptr ? std::vector<std::string>{found->where} : std::vector<std::string>{};
}

bool ring_is_known(const EnvSubject& subject) {
  const Variable* found = find_under_any_name(subject.environment, subject.software, "TORCH_FR_BUFFER_SIZE");
  return found == nullptr || (found->known && integer_of(found->value));
}

Outcomes recorder_off(const EnvSubject& subject) {
  if (!has_recorder(subject) || !ring_is_known(subject)) return not_applicable();
  if (ring_size(subject) > 0) return passed();
  const bool dumps = dumps_on_timeout(subject);
  const auto place = place_of(subject, "TORCH_FR_BUFFER_SIZE");
  std::string detail =
      place.empty() ? "the Flight Recorder is off by default in PyTorch " + subject.software.torch.text()
                    : "the Flight Recorder is off: its ring has no entries";
  if (dumps) detail += ", and a dump is asked for: it will be empty";
  return {{dumps ? Status::kFail : Status::kWarn, detail,
           set_line(subject, ring_name(subject), std::to_string(kUsualRing)), place}};
}

Outcomes ring_default(const EnvSubject& subject) {
  if (!has_recorder(subject) || !subject.software.torch_since(8) || subject.software.torch_since(10))
    return not_applicable();
  if (!place_of(subject, "TORCH_FR_BUFFER_SIZE").empty()) return passed();
  return {{Status::kWarn,
           "the size of the ring is left to PyTorch " + subject.software.torch.text(),
           set_line(subject, ring_name(subject), std::to_string(kUsualRing)),
           {}}};
}

Outcomes ring_range(const EnvSubject& subject) {
  if (!has_recorder(subject)) return not_applicable();
  const auto place = place_of(subject, "TORCH_FR_BUFFER_SIZE");
  const std::int64_t size = ring_size(subject);
  if (place.empty() || size == 0) return not_applicable();
  if (size < 0) {
    return {{Status::kFail, "a ring of " + std::to_string(size) + " entries: the number is negative",
             set_line(subject, ring_name(subject), std::to_string(kUsualRing)), place}};
  }
  if (size < kSmallRing) {
    return {{Status::kWarn,
             "a ring of " + std::to_string(size) + " entries forgets what went before within moments",
             set_line(subject, ring_name(subject), std::to_string(kUsualRing)), place}};
  }
  if (size <= kLargeRing) return passed();
  const std::int64_t least = size * kLeastBytes / 1'000'000, most = size * kMostBytes / 1'000'000;
  return {{Status::kWarn,
           "a ring of " + std::to_string(size) + " entries: each rank dumps " + std::to_string(least) +
               " to " + std::to_string(most) + " MB, and may not be done in the " +
               std::to_string(dump_wait_ms(subject) / 1000) + " s that it gets",
           set_line(subject, ring_name(subject), std::to_string(kLargeRing)) +
               "\n# or compute it from your rate: unhang env calibrate --rate N --window 30s",
           place}};
}

Outcomes ring_names_differ(const EnvSubject& subject) {
  const Variable* new_one = subject.environment.find("TORCH_FR_BUFFER_SIZE");
  const Variable* old_one = subject.environment.find("TORCH_NCCL_TRACE_BUFFER_SIZE");
  if (new_one == nullptr || old_one == nullptr || !new_one->known || !old_one->known) return not_applicable();
  if (new_one->value == old_one->value) return passed();
  return {{Status::kWarn,
           shown(*new_one) + ", and " + shown(*old_one) + ": two names of one setting",
           set_line(subject, old_one->name, new_one->value),
           {new_one->where, old_one->where}}};
}

Outcomes dump_off(const EnvSubject& subject) {
  if (!has_recorder(subject) || ring_size(subject) <= 0) return not_applicable();
  if (dumps_on_timeout(subject)) return passed();
  return {{Status::kFail, "the recorder keeps calls, and nothing writes them down at a time-out",
           set_line(subject, dump_name(subject), "1"), place_of(subject, "TORCH_FR_DUMP_ON_TIMEOUT")}};
}

Outcomes monitoring_off(const EnvSubject& subject) {
  if (!has_recorder(subject)) return not_applicable();
  if (monitors(subject)) return passed();
  return {{Status::kFail, "the monitor thread is off: it is the one that writes dumps and reads the FIFO",
           set_line(subject, "TORCH_NCCL_ENABLE_MONITORING", "1"),
           place_of(subject, "TORCH_NCCL_ENABLE_MONITORING")}};
}

Outcomes fifo(const EnvSubject& subject) {
  const Variable* pipe = subject.environment.find("TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
  if (pipe == nullptr || !has_recorder(subject)) return not_applicable();
  Outcomes outcomes;
  // DumpPipe reads this name alone, with 0 as its default, whatever the recorder itself reads.
  const Variable* ring = subject.environment.find("TORCH_NCCL_TRACE_BUFFER_SIZE");
  if (ring == nullptr || (ring->known && integer_of(ring->value).value_or(0) <= 0)) {
    const std::int64_t size = ring_size(subject);
    outcomes.push_back(about(
        Status::kFail, *pipe,
        "no FIFO is made: PyTorch makes it only where TORCH_NCCL_TRACE_BUFFER_SIZE is "
        "set, too",
        set_line(subject, "TORCH_NCCL_TRACE_BUFFER_SIZE", std::to_string(size > 0 ? size : kUsualRing))));
  }
  if (!dumps_on_timeout(subject)) {
    outcomes.push_back(about(Status::kFail, *pipe,
                             "the FIFO is looked at only every " +
                                 std::to_string(heartbeat_seconds(subject)) +
                                 " s, because dumps at a time-out are off",
                             set_line(subject, dump_name(subject), "1")));
  }
  return outcomes.empty() ? passed() : outcomes;
}

Outcomes blocking_wait(const EnvSubject& subject) {
  const Variable* found =
      find_under_any_name(subject.environment, subject.software, "TORCH_NCCL_BLOCKING_WAIT");
  if (found == nullptr || !found->known) return not_applicable();
  if (!waits_blocking(subject)) return passed();
  std::string detail = shown(*found) + ": there is no watchdog, so no dump at a time-out and no FIFO";
  if (find_under_any_name(subject.environment, subject.software, "TORCH_NCCL_ASYNC_ERROR_HANDLING") !=
      nullptr)
    detail += "; it also overrules the ASYNC_ERROR_HANDLING that is set beside it";
  return {about(Status::kFail, *found, detail, removal(subject, found->name))};
}

Outcomes error_handling(const EnvSubject& subject) {
  const Variable* found =
      find_under_any_name(subject.environment, subject.software, "TORCH_NCCL_ASYNC_ERROR_HANDLING");
  if (found == nullptr || !found->known) return not_applicable();
  const std::int64_t mode = integer_of(found->value).value_or(3);
  if (mode == 1 || mode == 3) return passed();
  if (mode == 0 || mode == 2) {
    return {
        about(Status::kWarn, *found,
              shown(*found) + (mode == 0 ? ": a time-out is not handled, a hung job stays as it is"
                                         : ": after a time-out the process lives on without communicators"),
              removal(subject, found->name))};
  }
  return {
      about(Status::kFail, *found, shown(*found) + ": the modes are 0 to 3", removal(subject, found->name))};
}

Outcomes dump_place(const EnvSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const std::string_view name :
       {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"}) {
    const Variable* found = subject.environment.find(name);
    if (found == nullptr || !found->known || found->value.empty()) continue;
    any = true;
    const std::string& path = found->value;
    if (path.find('%') != std::string::npos) {
      std::string plain = path;
      for (const std::string_view pattern : {"%h", "%p", "%r"}) {
        for (std::size_t at = plain.find(pattern); at != std::string::npos; at = plain.find(pattern))
          plain.erase(at, pattern.size());
      }
      outcomes.push_back(about(Status::kWarn, *found,
                               shown(*found) + ": only NCCL's log files know %h and %p; here the rank is put "
                                               "behind the name, and that is all",
                               set_line(subject, name, plain)));
    } else if (path.front() != '/') {
      outcomes.push_back(about(
          Status::kWarn, *found,
          shown(*found) +
              (path.front() == '~' ? ": a ~ is not expanded" : ": below whatever folder the process is in"),
          set_line(subject, name, "/var/log/nccl/fr_rank_")));
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

bool is_container(base::EnvForm form) {
  return form == base::EnvForm::kKubernetes || form == base::EnvForm::kConfigMap ||
         form == base::EnvForm::kCompose || form == base::EnvForm::kComposeList;
}

// Default places: /tmp of the container, or a home that may be read-only.
Outcomes dump_place_in_pod(const EnvSubject& subject) {
  const base::EnvForm form = subject.environment.form;
  if (!is_container(form) || !has_recorder(subject) || ring_size(subject) <= 0) return not_applicable();
  if (!place_of(subject, "TORCH_FR_DUMP_TEMP_FILE").empty()) return passed();
  const std::string_view name =
      subject.software.torch_since(8) ? "TORCH_FR_DUMP_TEMP_FILE" : "TORCH_NCCL_DEBUG_INFO_TEMP_FILE";
  const bool in_pod = form == base::EnvForm::kKubernetes || form == base::EnvForm::kConfigMap;
  return {{Status::kWarn,
           "dumps go to the container's own file system, which goes with the container",
           set_line(subject, name, "/var/log/nccl/fr_rank_") +
               (in_pod ? "\n# with a hostPath or a volume claim mounted there; an emptyDir (on a disk, not "
                         "medium: Memory)\n# outlives a restart of the container, and goes with the pod"
                       : "\n# with a volume or a folder of the host mounted there"),
           {}}};
}

Outcomes costly(const EnvSubject& subject) {
  struct Costly {
    std::string_view name, what;
  };
  constexpr Costly kCostly[] = {
      {"TORCH_NCCL_ENABLE_TIMING", "its queries of CUDA events can hang the watchdog itself"},
      {"TORCH_NCCL_DESYNC_DEBUG", "it writes to the store for every collective and switches timing on"},
      {"TORCH_FR_CPP_STACK", "C++ stacks are slow to resolve: dumps may come too late"},
  };
  Outcomes outcomes;
  bool any = false;
  for (const Costly& costly : kCostly) {
    const Variable* found = find_under_any_name(subject.environment, subject.software, costly.name);
    if (found == nullptr) continue;
    any = true;
    if (torch_flag(subject, costly.name).value_or(false))
      outcomes.push_back(about(Status::kWarn, *found, shown(*found) + ": " + std::string(costly.what),
                               removal(subject, found->name)));
  }
  const Variable* debug = subject.environment.find("TORCH_DISTRIBUTED_DEBUG");
  if (debug != nullptr && debug->known) {
    any = true;
    if (debug->value == "DETAIL")
      outcomes.push_back(about(Status::kWarn, *debug,
                               shown(*debug) + ": every collective is checked by another one before it",
                               set_line(subject, debug->name, "OFF")));
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

constexpr Check<EnvSubject> kRules[] = {
    {"recorder-off", "the Flight Recorder keeps calls",
     "Its dumps are the evidence that names the rank that did not come.", &recorder_off},
    {"ring-by-default", "the size of the ring is stated",
     "Releases before 2.10 had two defaults: some said 2000 and recorded nothing.", &ring_default},
    {"ring-size", "the ring is neither too short nor too long",
     "Too short, and the calls before the stall are gone; too long, and no dump is finished in time.",
     &ring_range},
    {"ring-names-differ", "both names of the ring's size say the same",
     "The recorder takes one and the FIFO the other.", &ring_names_differ},
    {"dump-off", "a time-out writes a dump", "After the time-out the process ends, and the ring with it.",
     &dump_off},
    {"monitor-off", "the monitor thread runs", "Without it nothing is dumped.", &monitoring_off},
    {"fifo-dead", "the FIFO is there and is listened to",
     "It is the only way to get a dump without ending the job.", &fifo},
    {"blocking-wait", "the watchdog runs", "Waiting in wait() also keeps the CPU from launching ahead.",
     &blocking_wait},
    {"error-handling", "a time-out ends the process",
     "What lives on after a time-out blocks its GPUs, and its results may be wrong.", &error_handling},
    {"dump-place", "dumps go to an absolute path that PyTorch understands",
     "A dump that nobody finds is no evidence.", &dump_place},
    {"dump-place-in-pod", "dumps outlive the container",
     "A restart of the container takes the evidence with it.", &dump_place_in_pod},
    {"costly-debug", "no costly debugging is left on", "It is for a rehearsal, not for production.", &costly},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_recorder() {
  return kRules;
}

}  // namespace unhang::checks
