// SPDX-License-Identifier: Apache-2.0
#include "join/identity_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/pci_address.h"
#include "join/host_names.h"

namespace unhang::join {
namespace {

using model::Case;
using model::IdentityFact;
using model::IdentityKey;

// The variables that containers and schedulers set, and what their values name.
struct NamingVariable {
  std::string_view variable;
  IdentityKey key;
};
constexpr std::array<NamingVariable, 5> kNamingVariables{{
    {"HOSTNAME", IdentityKey::kHost},
    {"POD_NAME", IdentityKey::kPod},
    {"NODE_NAME", IdentityKey::kNode},
    {"K8S_NODE_NAME", IdentityKey::kNode},
    {"SLURMD_NODENAME", IdentityKey::kNode},
}};

std::int32_t number_of(std::string_view text) {
  std::int32_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

// "0xabc123:3".
std::string place_in(std::uint64_t communicator, std::int32_t rank) {
  std::array<char, 32> out{};
  const int length =
      std::snprintf(out.data(), out.size(), "0x%llx:%d", static_cast<unsigned long long>(communicator), rank);
  return {out.data(), static_cast<std::size_t>(length)};
}

class FactTable {
 public:
  FactTable(const Case& joined, const BundleFacts& bundles) : x_case(joined), x_bundles(bundles) {}

  std::vector<model::RankIdentity> run() {
    take_dumps();
    take_ras();
    take_logs();
    take_looks();
    take_manifests();
    std::vector<model::RankIdentity> out;
    for (auto& [rank, facts] : x_facts) out.push_back({rank, in_order(std::move(facts))});
    return out;
  }

 private:
  using Facts = std::vector<IdentityFact>;

  void add(std::int32_t rank, IdentityKey key, std::string value, std::string_view source,
           std::optional<std::uint32_t> input) {
    if (rank < 0 || value.empty()) return;
    x_facts[rank].push_back({key, std::move(value), std::string(source), input});
  }

  // Each once, with the first input that says so. Of thousands of communicators of a rank the first are
  // enough.
  static Facts in_order(Facts facts) {
    const auto order = [](const IdentityFact& fact) {
      return std::tuple<IdentityKey, const std::string&, const std::string&>(fact.key, fact.value,
                                                                             fact.source);
    };
    std::stable_sort(facts.begin(), facts.end(), [&](const auto& a, const auto& b) {
      return order(a) != order(b) ? order(a) < order(b)
                                  : a.input.value_or(UINT32_MAX) < b.input.value_or(UINT32_MAX);
    });
    facts.erase(std::unique(facts.begin(), facts.end(),
                            [&](const auto& a, const auto& b) { return order(a) == order(b); }),
                facts.end());
    constexpr std::size_t kMostOfAKey = 64;
    Facts out;
    std::size_t of_key = 0;
    for (IdentityFact& fact : facts) {
      of_key = !out.empty() && out.back().key == fact.key ? of_key + 1 : 0;
      if (of_key < kMostOfAKey) out.push_back(std::move(fact));
    }
    return out;
  }

  void take_bundle(std::int32_t rank, std::uint32_t input) {
    const FileFacts* facts = x_bundles.find(x_case.inputs[input].path);
    if (facts == nullptr) return;
    add(rank, IdentityKey::kHost, facts->host, "bundle", input);
    add(rank, IdentityKey::kInstance, facts->instance, "bundle", input);
    add(rank, IdentityKey::kDeployment, facts->deployment, "bundle", input);
  }

  void take_dumps() {
    for (const model::Rank& rank : x_case.ranks) {
      x_facts[rank.global_rank];
      if (!rank.input) continue;
      if (const FileFacts* facts = x_bundles.find(x_case.inputs[*rank.input].path);
          facts != nullptr && facts->pid >= 0)
        add(rank.global_rank, IdentityKey::kPid, std::to_string(facts->pid), "bundle", rank.input);
      take_bundle(rank.global_rank, *rank.input);
      for (const model::Lane& lane : rank.lanes) {
        const auto& members = x_case.groups[lane.group].members;
        const auto own = x_case.find_rank(rank.global_rank);
        const auto at = std::find(members.begin(), members.end(), own.value_or(UINT32_MAX));
        if (x_case.groups[lane.group].membership != model::Membership::kDeclared || at == members.end())
          continue;
        add(rank.global_rank, IdentityKey::kGroup,
            x_case.group_label(lane.group) + ":" + std::to_string(at - members.begin()), "flight_recorder",
            rank.input);
      }
    }
  }

  void take_ras() {
    for (const model::RasView& view : x_case.ras.views) {
      const std::optional<std::uint32_t> input =
          view.sources.empty() ? std::nullopt : std::optional<std::uint32_t>(view.sources.front());
      for (const model::RasCommunicator& communicator : view.communicators) {
        for (const model::RasRank& rank : communicator.ranks) {
          if (rank.global_rank < 0) continue;
          add(rank.global_rank, is_host_address(rank.host) ? IdentityKey::kAddress : IdentityKey::kHost,
              rank.host, "ras", input);
          if (rank.pid >= 0) add(rank.global_rank, IdentityKey::kPid, std::to_string(rank.pid), "ras", input);
          if (rank.cuda_device >= 0)
            add(rank.global_rank, IdentityKey::kGpuOrdinal, std::to_string(rank.cuda_device), "ras", input);
          add(rank.global_rank, IdentityKey::kCommunicator, place_in(communicator.hash, rank.rank), "ras",
              input);
        }
      }
    }
  }

  void take_logs() {
    const model::Log& log = x_case.logs;
    std::vector<std::optional<std::uint32_t>> input_of(log.origins.size());
    const auto note = [&](const auto& records) {
      for (const auto& record : records) {
        auto& input = input_of[record.origin];
        input = std::min(input.value_or(record.input), record.input);
      }
    };
    note(log.events);
    note(log.communicators);
    note(log.timeouts);
    for (std::size_t i = 0; i < log.origins.size(); ++i) {
      const model::LogOrigin& origin = log.origins[i];
      add(origin.global_rank, is_host_address(origin.host) ? IdentityKey::kAddress : IdentityKey::kHost,
          origin.host, "log", input_of[i]);
      if (origin.pid >= 0)
        add(origin.global_rank, IdentityKey::kPid, std::to_string(origin.pid), "log", input_of[i]);
      if (origin.cuda_device >= 0)
        add(origin.global_rank, IdentityKey::kGpuOrdinal, std::to_string(origin.cuda_device), "log",
            input_of[i]);
      add(origin.global_rank, IdentityKey::kRole, origin.label == "kernel" ? "" : origin.label, "log",
          input_of[i]);
    }
    for (const model::LogCommunicator& communicator : log.communicators) {
      const std::int32_t rank = log.origins[communicator.origin].global_rank;
      add(rank, IdentityKey::kGpuBusId, base::pci_address(communicator.bus_id), "nccl_log",
          communicator.input);
      if (communicator.id)
        add(rank, IdentityKey::kCommunicator, place_in(*communicator.id, communicator.rank), "nccl_log",
            communicator.input);
    }
    for (const model::LogEvent& event : log.events) {
      if (event.kind == model::LogEventKind::kInterfaceChosen && is_host_address(event.peer))
        add(log.origins[event.origin].global_rank, IdentityKey::kAddress, event.peer, "nccl_log",
            event.input);
    }
  }

  void take_looks() {
    for (const model::ProcessReading& reading : x_case.processes) {
      const model::ProcessSample& sample = reading.sample;
      add(sample.rank, IdentityKey::kHost, sample.host, "process", reading.input);
      if (sample.pid >= 0)
        add(sample.rank, IdentityKey::kPid, std::to_string(sample.pid), "process", reading.input);
      if (sample.namespace_pid >= 0 && sample.namespace_pid != sample.pid)
        add(sample.rank, IdentityKey::kContainerPid, std::to_string(sample.namespace_pid), "process",
            reading.input);
    }
  }

  void take_manifests() {
    for (const model::BundleManifest& bundle : x_case.bundles) {
      for (const model::BundleProcess& process : bundle.processes) {
        std::int32_t rank = -1;
        for (const auto& [variable, value] : process.environment) {
          if (variable == "RANK") rank = number_of(value);
        }
        if (rank < 0) continue;
        add(rank, IdentityKey::kHost, bundle.host, "manifest", {});
        add(rank, IdentityKey::kPid, std::to_string(process.pid), "manifest", {});
        if (process.namespace_pids.size() > 1)
          add(rank, IdentityKey::kContainerPid, std::to_string(process.namespace_pids.back()), "manifest",
              {});
        add(rank, IdentityKey::kInstance, bundle.instance, "manifest", {});
        add(rank, IdentityKey::kDeployment, bundle.deployment, "manifest", {});
        for (const auto& [variable, value] : process.environment) {
          for (const NamingVariable& naming : kNamingVariables) {
            if (variable == naming.variable) add(rank, naming.key, value, "manifest", {});
          }
        }
      }
    }
  }

  const Case& x_case;
  const BundleFacts& x_bundles;
  std::map<std::int32_t, Facts> x_facts;
};

}  // namespace

bool names_machine(std::string_view variable) {
  return std::any_of(kNamingVariables.begin(), kNamingVariables.end(),
                     [&](const NamingVariable& naming) { return variable == naming.variable; });
}

std::vector<model::RankIdentity> identity_facts(const Case& joined, const BundleFacts& bundles) {
  return FactTable(joined, bundles).run();
}

}  // namespace unhang::join
