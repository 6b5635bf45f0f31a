// SPDX-License-Identifier: Apache-2.0
//
// RAS, and other services without a password that a variable opens.
#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

struct Address {
  std::string host;
  std::int64_t port = 0;
};

// "host:port", "[::1]:28028"; nullopt: neither, or no port from 1 to 65535.
std::optional<Address> address_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[') {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  const auto port = integer_of(text.substr(colon + 1));
  constexpr std::int64_t kMostPort = 65'535;
  if (host.empty() || !port || *port < 1 || *port > kMostPort) return std::nullopt;
  return Address{std::string(host), *port};
}

Outcomes address(const EnvSubject& subject) {
  const Variable* found = subject.environment.find("NCCL_RAS_ADDR");
  if (found == nullptr || !found->known || !subject.software.nccl_since(24)) return not_applicable();
  const auto where = address_of(found->value);
  if (!where) {
    return {about(Status::kFail, *found, shown(*found) + " is no host:port: RAS opens no socket for clients",
                  set_line(subject, found->name, "localhost:28028"))};
  }
  const std::string& host = where->host;
  if (host == "localhost" || host.starts_with("127.") || host == "::1") return passed();
  return {about(Status::kFail, *found, shown(*found) + ": RAS answers whoever reaches that address",
                set_line(subject, found->name, "localhost:" + std::to_string(where->port)))};
}

Outcomes off(const EnvSubject& subject) {
  const Variable* found = subject.environment.find("NCCL_RAS_ENABLE");
  if (!subject.software.nccl_since(24)) return not_applicable();
  if (found == nullptr || !found->known || nccl_integer_of(found->value) == 1) return passed();
  // A crash of RAS without any question is known of 2.27 (NVIDIA/nccl#1996): there it is the remedy.
  if (subject.software.nccl_since(27) && !subject.software.nccl_since(28))
    return passed("RAS is off, which works around a crash of NCCL 2.27");
  return {about(Status::kWarn, *found, shown(*found) + ": RAS is off", removal(subject, found->name))};
}

Outcomes dev_mode(const EnvSubject& subject) {
  const Variable* found = subject.environment.find("VLLM_SERVER_DEV_MODE");
  if (found == nullptr || !found->known) return not_applicable();
  if (found->value == "0" || found->value.empty()) return passed();
  return {about(Status::kWarn, *found,
                shown(*found) + ": whoever reaches vLLM's port may pause it and put it to sleep",
                removal(subject, found->name))};
}

constexpr Check<EnvSubject> kRules[] = {
    {"ras-public", "RAS listens on the loopback only",
     "It asks for no password, tells about the whole job, and some releases can be crashed by a question.",
     &address},
    {"ras-off", "RAS is on", "It is the one source that can be asked while a job hangs, without preparation.",
     &off},
    {"dev-mode", "vLLM's development endpoints are closed", "They have no password.", &dev_mode},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_ras() {
  return kRules;
}

}  // namespace unhang::checks
