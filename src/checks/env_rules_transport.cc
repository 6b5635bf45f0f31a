// SPDX-License-Identifier: Apache-2.0
//
// Workarounds that were left behind, interfaces that are not there, workers that never got the variables.
#include <algorithm>
#include <array>
#include <map>

#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

// A switch that makes a job run where something is broken, and slow where nothing is.
struct Workaround {
  std::string_view name;
  std::int64_t value;
  std::string_view cost;
};
constexpr std::array kWorkarounds{
    Workaround{"NCCL_P2P_DISABLE", 1, "GPUs of one node talk through host memory"},
    Workaround{"NCCL_SHM_DISABLE", 1, "processes of one node talk through the network"},
    Workaround{"NCCL_IB_DISABLE", 1, "nodes talk by TCP instead of RDMA"},
    Workaround{"NCCL_NET_GDR_READ", 0, "data for the network is copied through host memory"},
    Workaround{"NCCL_NVLS_ENABLE", 0, "NVLink SHARP is not used"},
    Workaround{"NCCL_CUMEM_ENABLE", 0, "buffers are not registered; NVLS and user buffers are off"},
    Workaround{"NCCL_PXN_DISABLE", 1, "traffic crosses rails"},
    Workaround{"NCCL_COLLNET_ENABLE", 0, "SHARP in the switches is not used"},
    Workaround{"NCCL_IGNORE_DISABLED_P2P", 1, "P2P is tried where the driver says that it does not work"},
};

Outcomes workarounds(const EnvSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const Workaround& workaround : kWorkarounds) {
    const Variable* found = subject.environment.find(workaround.name);
    if (found == nullptr || !found->known || !integer_of(found->value)) continue;
    any = true;
    const std::int64_t value = *integer_of(found->value);
    // These switches are "not 0" and "0" for NCCL.
    if ((workaround.value == 0) != (value == 0)) continue;
    outcomes.push_back(about(Status::kWarn, *found, shown(*found) + ": " + std::string(workaround.cost),
                             removal(subject, found->name)));
  }
  const Variable* net = subject.environment.find("NCCL_NET");
  if (net != nullptr && net->known) {
    any = true;
    if (net->value == "Socket")
      outcomes.push_back(about(Status::kWarn, *net, shown(*net) + ": nodes talk by TCP instead of RDMA",
                               removal(subject, net->name)));
  }
  const Variable* blocking = subject.environment.find("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && blocking->known) {
    any = true;
    if (blocking->value == "1")
      outcomes.push_back(about(Status::kWarn, *blocking,
                               shown(*blocking) + ": every launch waits for the GPU, also across collectives",
                               removal(subject, blocking->name)));
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

Outcomes contradictions(const EnvSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  const auto number = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto value = subject.environment.value(name);
    return value ? integer_of(*value) : std::nullopt;
  };
  const auto compare = [&](std::string_view least, std::string_view most) {
    const auto low = number(least), high = number(most);
    if (!low || !high) return;
    any = true;
    if (*low <= *high) return;
    outcomes.push_back({Status::kFail,
                        std::string(least) + "=" + std::to_string(*low) + " is more than " +
                            std::string(most) + "=" + std::to_string(*high),
                        removal(subject, least),
                        {subject.environment.find(least)->where, subject.environment.find(most)->where}});
  };
  compare("NCCL_MIN_CTAS", "NCCL_MAX_CTAS");
  compare("NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS");
  const Variable* hca = subject.environment.find("NCCL_IB_HCA");
  if (hca != nullptr && number("NCCL_IB_DISABLE")) {
    any = true;
    if (*number("NCCL_IB_DISABLE") != 0)
      outcomes.push_back({Status::kWarn,
                          shown(*hca) + " chooses adapters, and NCCL_IB_DISABLE switches them off",
                          removal(subject, "NCCL_IB_DISABLE"),
                          {hca->where, subject.environment.find("NCCL_IB_DISABLE")->where}});
  }
  const Variable* format = subject.environment.find("TORCH_INCLUDE_ONLY_ACTIVE");
  if (format != nullptr && torch_boolean_of(format->value).value_or(false)) {
    any = true;
    outcomes.push_back(about(Status::kWarn, *format,
                             shown(*format) +
                                 ": finished calls are left out of dumps, so a rank that is done "
                                 "looks like one that never came",
                             removal(subject, format->name)));
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

// NCCL's matchIfList: "^" turns the list round, "=" wants whole names, else beginnings count; ":n" a port.
std::vector<std::string> matching(std::string_view list, const std::vector<std::string>& names) {
  const bool inverted = list.starts_with("^");
  if (inverted) list.remove_prefix(1);
  const bool exact = list.starts_with("=");
  if (exact) list.remove_prefix(1);
  std::vector<std::string> out;
  for (const std::string& name : names) {
    bool match = false;
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string_view word = rest.substr(0, end);
      match = match || (exact ? name == word : !word.empty() && name.starts_with(word));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (match != inverted) out.push_back(name);
  }
  return out;
}

Outcomes interface_missing(const EnvSubject& subject) {
  const Variable* found = subject.environment.find("NCCL_SOCKET_IFNAME");
  if (found == nullptr || !found->known || found->value.empty() || !subject.interfaces)
    return not_applicable();
  const auto matches = matching(found->value, *subject.interfaces);
  if (!matches.empty() && !(matches.size() == 1 && matches.front() == "lo" && found->value.starts_with("^")))
    return passed();
  std::string there, first;
  for (const std::string& name : *subject.interfaces) {
    there += (there.empty() ? "" : ", ") + name;
    if (first.empty() && name != "lo") first = name;
  }
  return {about(Status::kFail, *found,
                shown(*found) + " matches no interface; there are " + (there.empty() ? "none" : there),
                first.empty() ? removal(subject, found->name) : set_line(subject, found->name, "=" + first))};
}

Outcomes only_loopback(const EnvSubject& subject) {
  const auto value = subject.environment.value("NCCL_SOCKET_IFNAME");
  if (!value) return not_applicable();
  if (*value != "lo" && *value != "=lo") return passed();
  return {about(Status::kWarn, *subject.environment.find("NCCL_SOCKET_IFNAME"),
                "NCCL_SOCKET_IFNAME=" + *value + ": other nodes cannot be reached through the loopback",
                removal(subject, "NCCL_SOCKET_IFNAME"))};
}

// Variables of each process alone.
bool may_differ(std::string_view name) {
  return name == "NCCL_HOSTID" || name == "NCCL_COMM_ID" || name == "TZ" ||
         name == "TORCH_NCCL_ASYNC_ERROR_HANDLING" || name == "NCCL_ASYNC_ERROR_HANDLING";
}

// "A", "A and B", "A, B and 4 more".
std::string names_of(const std::vector<const Variable*>& variables) {
  constexpr std::size_t kMost = 3;
  std::string words;
  for (std::size_t i = 0; i < variables.size() && i < kMost; ++i) {
    const bool is_last = i + 1 == variables.size();
    words += (i == 0 ? "" : is_last ? " and " : ", ") + variables[i]->name;
  }
  if (variables.size() > kMost) words += " and " + std::to_string(variables.size() - kMost) + " more";
  return words;
}

std::string lines_that_set(const EnvSubject& subject, const std::vector<const Variable*>& variables) {
  // Ray's workers get what vLLM copies.
  if (subject.software.engine == Engine::kVllm)
    return set_line(subject, "VLLM_RAY_EXTRA_ENV_VAR_PREFIXES_TO_COPY", "NCCL_,TORCH_");
  std::string lines;
  for (const Variable* variable : variables)
    lines += (lines.empty() ? "" : "\n") +
             set_line(subject, variable->name, variable->known ? variable->value : "…");
  return lines;
}

Outcomes workers_lack(const EnvSubject& subject) {
  if (subject.workers.empty()) return not_applicable();
  Outcomes others;
  std::map<std::vector<std::string>, std::vector<const Variable*>> missing;  // by who lacks them
  const std::string who = subject.environment.name.empty() ? "the launcher" : subject.environment.name;
  const auto of_all = [&](std::size_t some) {
    return std::to_string(some) + " of " + std::to_string(subject.workers.size()) + " workers";
  };
  for (const Variable& variable : subject.environment.variables) {
    if (may_differ(variable.name) || subject.environment.find(variable.name) != &variable) continue;
    std::vector<std::string> without, other;
    for (const Environment& worker : subject.workers) {
      const Variable* theirs = worker.find(variable.name);
      if (theirs == nullptr) {
        without.push_back(worker.name);
      } else if (variable.known && theirs->known && theirs->value != variable.value) {
        other.push_back(worker.name + " (" + shown(*theirs) + ")");
      }
    }
    if (!without.empty()) missing[without].push_back(&variable);
    if (other.empty()) continue;
    others.push_back({Status::kWarn,
                      shown(variable) + " in " + who + ", another value in " + of_all(other.size()),
                      set_line(subject, variable.name, variable.known ? variable.value : "…"), other});
  }
  Outcomes outcomes;
  for (const auto& [without, variables] : missing) {
    outcomes.push_back({Status::kFail,
                        names_of(variables) + (variables.size() == 1 ? " is" : " are") + " set in " + who +
                            " and missing in " + of_all(without.size()),
                        lines_that_set(subject, variables), without});
  }
  outcomes.insert(outcomes.end(), others.begin(), others.end());
  return outcomes.empty() ? passed() : outcomes;
}

constexpr Check<EnvSubject> kRules[] = {
    {"workaround", "no workaround is left behind",
     "It hides what is broken and costs speed for ever. Take it away one at a time, and measure.",
     &workarounds},
    {"contradiction", "no settings contradict each other", "Only one of the two can hold.", &contradictions},
    {"interface-missing", "NCCL_SOCKET_IFNAME names an interface that is there",
     "NCCL finds no way to its peers: it fails or hangs when it starts.", &interface_missing},
    {"interface-loopback", "NCCL_SOCKET_IFNAME leads to other nodes",
     "A job of several nodes hangs when it starts.", &only_loopback},
    {"workers-differ", "workers have the variables of their launcher",
     "NCCL and PyTorch read the variables of the worker, never those of the launcher.", &workers_lack},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_transport() {
  return kRules;
}

}  // namespace unhang::checks
