// SPDX-License-Identifier: Apache-2.0
//
// Who can be asked while a job hangs: RAS and engines; and the clock, by which answers are compared.
#include <fmt/format.h>

#include "base/printable.h"
#include "checks/node_checks.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;
using model::AddressScope;
using model::NodeRas;

Outcomes ras_answers(const NodeSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const NodeRas& ras : subject.facts.ras) {
    if (ras.too_old) continue;
    any = true;
    if (ras.answered && ras.trouble.empty()) continue;
    const std::string where = "RAS at " + base::printable(ras.address);
    if (ras.answered) {
      outcomes.push_back({Status::kWarn,
                          where + " answers, but not each process behind it: " + ras.trouble,
                          "unhang ras status --address " + base::printable(ras.address),
                          {}});
    } else if (ras.expected) {
      outcomes.push_back({Status::kFail,
                          where + " does not answer: " + ras.trouble,
                          "unset NCCL_RAS_ENABLE   # and restart\nss -ltnp | grep " +
                              base::printable(ras.address.substr(ras.address.rfind(':') + 1)),
                          {}});
    } else {
      outcomes.push_back({Status::kUnknown,
                          where + " was not heard: " + ras.trouble,
                          "# where the workers run (kubectl exec, nsenter -t PID -n):\n"
                          "unhang doctor --ras " +
                              base::printable(ras.address),
                          {}});
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

Outcomes ras_private(const NodeSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const NodeRas& ras : subject.facts.ras) {
    for (const auto& [ip, scope] : ras.bound) {
      any = true;
      if (scope == AddressScope::kLoopback) continue;
      const std::string port = ras.address.substr(ras.address.rfind(':') + 1);
      const bool is_private = scope == AddressScope::kPrivate;
      outcomes.push_back(
          {is_private ? Status::kWarn : Status::kFail,
           fmt::format("RAS is open on {} port {}: {}", ip, base::printable(port),
                       is_private                           ? "whoever is in this network may ask it"
                       : scope == AddressScope::kEverywhere ? "on every address of this machine"
                                                            : "on a public address"),
           "export NCCL_RAS_ADDR=localhost:" + base::printable(port) + "   # and restart",
           {}});
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

Outcomes ras_release(const NodeSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const NodeRas& ras : subject.facts.ras) {
    if (ras.release.empty()) continue;
    any = true;
    if (ras.too_old) {
      outcomes.push_back({Status::kWarn,
                          "NCCL " + base::printable(ras.release) + " has no RAS: it came with 2.24",
                          "pip install -U nvidia-nccl-cu12   # 2.28.9 or later",
                          {}});
    } else if (!ras.hazard.empty()) {
      outcomes.push_back(
          {Status::kWarn,
           "NCCL " + base::printable(ras.release) + " may be harmed by questions to RAS: " + ras.hazard,
           "pip install -U nvidia-nccl-cu12   # 2.28.9 or later",
           {}});
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

Outcomes debug_server(const NodeSubject& subject) {
  if (subject.facts.debug_server.empty()) return not_applicable();
  for (const auto& [ip, scope] : subject.facts.debug_server) {
    if (scope == AddressScope::kLoopback) continue;
    return {{Status::kWarn,
             "PyTorch's debug server listens on " + ip +
                 " port 25999: whoever reaches it sees stacks and may stop "
                 "workers for a profile",
             "# leave start_debug_server() out, or close its ports:\n"
             "sudo iptables -A INPUT ! -i lo -p tcp --dport 25999 -j DROP",
             {}}};
  }
  return passed();
}

Outcomes engine_health(const NodeSubject& subject) {
  Outcomes outcomes;
  constexpr int kOk = 200;
  for (const model::NodeEngine& engine : subject.facts.engines) {
    const std::string address = base::printable(engine.address);
    if (engine.health == kOk) continue;
    outcomes.push_back(
        {Status::kFail,
         engine.health ? fmt::format("/health of {} says HTTP {}", address, *engine.health)
                       : fmt::format("/health of {} does not answer: {}", address,
                                     engine.health_trouble.empty() ? engine.trouble : engine.health_trouble),
         "curl -sS -m 2 -i " + address,
         {}});
  }
  return !subject.facts.engines.empty() && outcomes.empty() ? passed() : outcomes;
}

Outcomes engine_metrics(const NodeSubject& subject) {
  Outcomes outcomes;
  for (const model::NodeEngine& engine : subject.facts.engines) {
    const std::string address = base::printable(engine.address);
    const std::string fix = "# --engine wants the address of the server:\ncurl -sS -m 2 " + address;
    if (!engine.has_page) {
      outcomes.push_back({Status::kFail,
                          fmt::format("{} shows no metrics: {}", address, engine.trouble),
                          "# vLLM, TensorRT-LLM: on by default; SGLang: --enable-metrics\n" + fix,
                          {}});
    } else if (engine.engine.empty()) {
      outcomes.push_back(
          {Status::kFail, fmt::format("the metrics of {} have no counter that is known", address), fix, {}});
    } else if (!engine.trouble.empty()) {
      outcomes.push_back({Status::kWarn,
                          fmt::format("the metrics of {} are not whole: {}", address, engine.trouble),
                          fix,
                          {}});
    }
  }
  return !subject.facts.engines.empty() && outcomes.empty() ? passed() : outcomes;
}

Outcomes clock_sync(const NodeSubject& subject) {
  const model::NodeClock& clock = subject.facts.clock;
  const std::string fix = std::string(subject.facts.in_container ? "# on the host:\n" : "") +
                          "sudo timedatectl set-ntp true\n# or: sudo systemctl enable --now chronyd";
  if (!clock.synchronized)
    return {{Status::kUnknown, "the kernel does not say whether its clock is kept", fix, {}}};
  if (*clock.synchronized) return passed();
  constexpr double kMicro = 1e6;
  // Where nothing has ever set it, the kernel only says its largest number.
  constexpr std::int64_t kCounted = 16'000'000;
  const bool counted = clock.largest_error_us < kCounted;
  const std::string how_far = counted ? fmt::format(": it may be off by up to {:.3f} s",
                                                    static_cast<double>(clock.largest_error_us) / kMicro)
                                      : std::string(": how far it is off is not known");
  if (clock.timesyncd_says_so)
    return {
        {Status::kWarn, "the clock was set by systemd-timesyncd, and is not kept now" + how_far, fix, {}}};
  return {{Status::kWarn, "no time service keeps the clock of this machine" + how_far, fix, {}}};
}

constexpr Check<NodeSubject> kChecks[] = {
    {"ras-answers", "RAS answers a greeting within 1 s",
     "It is the one source that can be asked while a job hangs, without preparation.", &ras_answers},
    {"ras-open", "RAS is open to this machine only",
     "It asks for no password, tells about the whole job, and some releases can be crashed by a question.",
     &ras_private},
    {"ras-release", "RAS of this release can be asked safely", "A question must not end the job.",
     &ras_release},
    {"debug-server-open", "PyTorch's debug server is open to this machine only", "It has no password.",
     &debug_server},
    {"engine-health", "engines answer /health within 2 s",
     "Whether requests still finish is the signal of progress that does not depend on NCCL.", &engine_health},
    {"engine-metrics", "the counters of engines are known",
     "Slow and stopped are told apart by them; CUDA graphs hide calls from RAS.", &engine_metrics},
    {"clock-sync", "the clock is kept by a time service",
     "Logs and dumps of several nodes are put in order by their clocks.", &clock_sync},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_services() {
  return kChecks;
}

}  // namespace unhang::checks
