// SPDX-License-Identifier: Apache-2.0
#include "cli/ras_flags.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/nccl_version_flag.h"
#include "collect/ras_addresses.h"

namespace unhang::cli {

using base::ErrorCode;
using base::fail;

Flag RasFlags::address_flag(std::vector<std::string>& target) {
  return {.name = "--address",
          .short_name = "-a",
          .value = "LIST",
          .help = "where to ask: HOST:PORT,[IPV6]:PORT,HOST … (else NCCL_RAS_ADDR, else localhost:28028)",
          .target = &target};
}

std::vector<Flag> RasFlags::flags() {
  constexpr std::int64_t kMostConnections = 1000;
  return {address_flag(addresses),
          {.name = "--timeout",
           .value = "DURATION",
           .help = "how long one answer may take (else 15s, more with NCCL_RAS_TIMEOUT_FACTOR)",
           .target = &timeout},
          {.name = "--connections",
           .value = "N",
           .help = "reports to get from each address (else until every process there was heard of)",
           .target = &connections,
           .minimum = 1,
           .maximum = kMostConnections},
          {.name = "--nccl-version", .value = "VERSION", .help = kNcclVersionHelp, .target = &nccl_version},
          {.name = "--force", .help = "ask releases of NCCL that it may crash, too", .target = &force}};
}

base::Result<std::vector<net::HostPort>> ras_addresses(const RasFlags& flags) {
  if (flags.addresses.empty()) return collect::default_ras_addresses(std::getenv("NCCL_RAS_ADDR"));
  std::vector<net::HostPort> all;
  for (const std::string& list : flags.addresses) {
    auto some = collect::parse_ras_addresses(list);
    if (!some) return fail(std::move(some.error()).with("flag --address"));
    for (net::HostPort& one : *some) {
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
    }
  }
  return all;
}

base::Result<collect::RasClientOptions> ras_client_options(const RasFlags& flags) {
  collect::RasClientOptions options;
  options.timeout =
      flags.timeout.value_or(collect::default_ras_timeout(std::getenv("NCCL_RAS_TIMEOUT_FACTOR")));
  if (options.timeout.count() == 0)
    return fail(ErrorCode::kUsage, "flag --timeout: 0 leaves no time for an answer");
  options.force = flags.force;
  if (flags.connections) options.connections = static_cast<int>(*flags.connections);
  if (!flags.nccl_version.empty()) {
    const auto release = nccl_version_of(flags.nccl_version);
    if (!release) return fail(release.error());
    options.release = *release;
  }
  return options;
}

}  // namespace unhang::cli
