// SPDX-License-Identifier: Apache-2.0
//
// Room for a bundle, shared memory, locked memory, the memory limit, core files.
#include <algorithm>
#include <limits>

#include "base/env_line.h"
#include "base/printable.h"
#include "checks/node_checks.h"
#include "os/read_budget.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = std::uint64_t{1} << 30;

Outcomes bundle_space(const NodeSubject& subject) {
  // A bundle of one node with dumps of 8 ranks and its logs is some 100 MB; half written it is still valid.
  constexpr std::uint64_t kComfort = kGiB, kLeast = 64 * kMiB;
  Outcomes outcomes;
  for (const model::PathFacts& place : subject.facts.bundle_places) {
    const std::string where = base::printable(place.path);
    const std::string fix = "df -h   # which file system has room?\nunhang capture -o /var/crash/job";
    if (!place.looked) {
      outcomes.push_back({Status::kWarn, where + " cannot be looked at: " + place.trouble, fix, {}});
    } else if (!place.exists) {
      outcomes.push_back(
          {Status::kWarn, where + " is not there", "mkdir -p " + base::shell_quoted(where), {}});
    } else if (place.bytes_free < kLeast || (place.inodes_free && *place.inodes_free < 100)) {
      outcomes.push_back({Status::kFail,
                          "there is no room for a bundle in " + where + ": " +
                              os::bytes_text(place.bytes_free) + " are free",
                          fix,
                          {}});
    } else if (place.bytes_free < kComfort) {
      outcomes.push_back({Status::kWarn,
                          "only " + os::bytes_text(place.bytes_free) + " are free for a bundle in " + where,
                          fix,
                          {}});
    }
  }
  return !subject.facts.bundle_places.empty() && outcomes.empty() ? passed() : outcomes;
}

// NCCL's own advice for containers is --shm-size=1g; one segment of its proxies is 32 MiB.
constexpr std::uint64_t kAdvisedShm = kGiB, kShmOfRank = 32 * kMiB;

// What is wrong with one /dev/shm.
std::optional<Outcome> judge_shm(const NodeSubject& subject, const model::NodeShm& shm) {
  const model::PathFacts& folder = shm.folder;
  const std::string fix =
      "docker run --shm-size=8g …\n"
      "# in a pod, mounted at /dev/shm:\n"
      "# {name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}";
  const auto found = [&](Status status, std::string detail, std::string mend) {
    return Outcome{status, std::move(detail), std::move(mend), names_of(subject.facts, shm.workers)};
  };
  if (!folder.looked)
    return found(Status::kUnknown, "/dev/shm cannot be looked at: " + folder.trouble, "sudo unhang doctor");
  if (!folder.exists) return found(Status::kFail, "there is no /dev/shm", fix);
  const std::string size = os::bytes_text(folder.bytes_total);
  // Workers that run have taken what they need: then only what is full is wrong.
  if (folder.bytes_free < (shm.workers.empty() ? kShmOfRank : kMiB)) {
    return found(Status::kFail,
                 "/dev/shm is full: " + os::bytes_text(folder.bytes_free) + " are free of " + size,
                 "ls -lS /dev/shm | head\n" + fix);
  }
  const std::uint64_t ranks = std::max<std::size_t>(shm.workers.size(), 1);
  if (folder.bytes_total >= std::max(kAdvisedShm, ranks * kShmOfRank)) return std::nullopt;
  return found(folder.bytes_total < ranks * kShmOfRank ? Status::kFail : Status::kWarn,
               "/dev/shm has " + size + " for " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"),
               fix);
}

Outcomes shm_size(const NodeSubject& subject) {
  Outcomes outcomes;
  for (const model::NodeShm& shm : subject.facts.shm) {
    if (auto outcome = judge_shm(subject, shm)) outcomes.push_back(std::move(*outcome));
  }
  return !subject.facts.shm.empty() && outcomes.empty() ? passed() : outcomes;
}

Outcomes memlock(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  if (facts.devices.rdma.empty()) return not_applicable();
  std::vector<std::size_t> limited;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  bool any = false;
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    const auto& limit = facts.workers[i].memlock_bytes;
    if (!limit) continue;
    any = true;
    if (*limit == std::numeric_limits<std::uint64_t>::max()) continue;
    limited.push_back(i);
    smallest = std::min(smallest, *limit);
  }
  if (!any) return not_applicable();
  if (limited.empty()) return passed();
  return {{Status::kWarn,
           "workers may lock only " + os::bytes_text(smallest) + " of memory, and RDMA adapters are here",
           "docker run --ulimit memlock=-1 …\n"
           "# systemd: LimitMEMLOCK=infinity; a shell: ulimit -l unlimited\n"
           "# Slurm: PropagateResourceLimitsExcept=MEMLOCK",
           names_of(facts, limited)}};
}

Outcomes memory_limit(const NodeSubject& subject) {
  constexpr double kNear = 0.9;
  constexpr double kPercent = 100;
  Outcomes outcomes;
  for (const model::NodeMemory& memory : subject.facts.memory) {
    const double share = static_cast<double>(memory.used) / static_cast<double>(memory.limit);
    if (share < kNear) continue;
    outcomes.push_back(
        {Status::kWarn,
         "the control group " + base::printable(memory.group) + " uses " +
             std::to_string(static_cast<int>(share * kPercent)) + " % of its memory limit of " +
             os::bytes_text(memory.limit),
         "# in a pod: resources: {limits: {memory: …}}\n# systemd: MemoryMax=; docker run --memory …",
         {}});
  }
  return !subject.facts.memory.empty() && outcomes.empty() ? passed() : outcomes;
}

// Never a warning: most jobs do well without core files. Who reads the report should know.
Outcomes core_files(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  if (facts.core_pattern.empty()) return not_applicable();
  if (!facts.core_pattern.starts_with('|'))
    return passed("core files: " + base::printable(facts.core_pattern));
  const std::string handler = base::printable(facts.core_pattern.substr(0, facts.core_pattern.find(' ')));
  if (facts.in_container && facts.core_handler_exists == false) {
    return passed("core files go to a program of the host (" + handler +
                  "): those of this container are there, or lost");
  }
  return passed("core files go to " + handler);
}

constexpr Check<NodeSubject> kChecks[] = {
    {"bundle-space", "there is room for a bundle",
     "The minute before the restart is no time to look for a disk.", &bundle_space},
    {"shm-size", "/dev/shm is large enough",
     "NCCL's ranks on one machine talk through it: where it is full, they fail or hang when they start.",
     &shm_size},
    {"memlock", "workers may lock memory",
     "Adapters need locked memory: ibv_reg_mr and ibv_create_cq fail with ENOMEM.", &memlock},
    {"memory-limit", "memory is below its limit",
     "A worker that is killed for memory makes all others hang, and a dump needs memory, too.",
     &memory_limit},
    {"core-files", "where core files go is known", "", &core_files},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_resources() {
  return kChecks;
}

}  // namespace unhang::checks
