// SPDX-License-Identifier: Apache-2.0
#include "detect/retest_list.h"

#include <algorithm>
#include <optional>
#include <set>

#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::FaultDomain;
using model::Subject;
using model::SubjectKind;

constexpr std::size_t kMostNamed = 32;
constexpr std::string_view kPairWord = " and ";

// Where the cause does not say whether it was hardware, a stall of the transport may have been.
bool may_be_hardware(const model::Verdict& verdict) {
  if (verdict.root == "application_error") return false;
  const model::CauseInfo* info = model::find_cause(verdict.root.empty() ? verdict.cause : verdict.root);
  const FaultDomain domain = info != nullptr ? info->fault_domain : FaultDomain::kUnknown;
  if (info != nullptr && info->isolates_node) return true;
  if (verdict.category == model::Category::kTransportStall) return domain != FaultDomain::kApplication;
  return domain == FaultDomain::kGpu || domain == FaultDomain::kLink || domain == FaultDomain::kFabric;
}

std::optional<std::string> host_of_rank(const std::vector<Subject>& subjects, std::int32_t rank) {
  for (const Subject& subject : subjects) {
    if (subject.rank == rank && !subject.host.empty()) return subject.host;
  }
  return std::nullopt;
}

// The network's tests need a partner; a GPU and its links within the machine are tested by themselves.
bool needs_partner(const std::vector<std::string>& list) {
  return std::any_of(list.begin(), list.end(), [](const std::string& item) {
    return item.find('/') != std::string::npos || item.find(kPairWord) != std::string::npos;
  });
}

std::string joined_by_comma(const std::set<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + item;
  return out;
}

std::set<std::string> hosts_in(const std::vector<std::string>& list) {
  std::set<std::string> hosts;
  for (const std::string& item : list) {
    const std::size_t pair = item.find(kPairWord);
    hosts.insert(item.substr(0, std::min(pair, item.find('/'))));
    if (pair != std::string::npos) hosts.insert(item.substr(pair + kPairWord.size()));
  }
  return hosts;
}

}  // namespace

std::vector<std::string> retest_list(const model::Verdict& verdict) {
  if (!may_be_hardware(verdict)) return {};
  const std::vector<Subject>& subjects = verdict.culprits.empty() ? verdict.suspects : verdict.culprits;
  std::set<std::string> out;
  for (const Subject& subject : subjects) {
    if (subject.host.empty() || out.size() >= kMostNamed) continue;
    const auto other = subject.peer ? host_of_rank(subjects, *subject.peer) : std::nullopt;
    if (other && *other != subject.host) {
      out.insert(std::min(*other, subject.host) + std::string(kPairWord) + std::max(*other, subject.host));
    } else {
      out.insert(subject.nic.empty() ? subject.host : subject.host + "/" + subject.nic);
    }
  }
  return {out.begin(), out.end()};
}

void add_retest_step(const model::Verdict& verdict, const RecoveryEnvironment& environment,
                     const std::vector<std::string>& list, std::vector<model::RecoveryStep>& out) {
  if (list.empty()) return;
  constexpr std::size_t kShown = 4;
  std::string what;
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) what += (i == 0 ? "" : ", ") + list[i];
  if (list.size() > kShown) what += " and " + std::to_string(list.size() - kShown) + " more";
  std::set<std::string> hosts = hosts_in(list);
  const bool network =
      needs_partner(list) || (verdict.category == model::Category::kTransportStall &&
                              verdict.fault_domain != FaultDomain::kGpu && verdict.cause != "nvlink_fault");
  std::string test = network ? "all_reduce_perf -b 8 -e 1G -f 2 -g 1 -c 1" : "dcgmi diag -r 3";
  if (network && hosts.size() == 1) hosts.insert("GOOD_HOST");
  if (environment.kind == EnvironmentKind::kSlurm) {
    test = "srun -N" + std::to_string(hosts.size()) + " -w " + joined_by_comma(hosts) +
           " --ntasks-per-node=" + (network ? "8 --gpus-per-node=8 " : "1 ") + test;
  } else if (network) {
    test = "mpirun --map-by ppr:8:node -H " + joined_by_comma(hosts) + " " + test;
  }
  out.push_back({"test " + what + " again before " + (list.size() == 1 ? "it serves" : "they serve") +
                     (network ? ", together with a machine that is known to be good" : ""),
                 std::move(test), true});
}

}  // namespace unhang::detect
