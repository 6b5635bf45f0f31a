// SPDX-License-Identifier: Apache-2.0
//
// Whether a dump can be asked for, and whether it can be written where it is meant to go.
#include <algorithm>
#include <set>

#include "base/env_line.h"
#include "base/printable.h"
#include "checks/node_checks.h"
#include "os/read_budget.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;
using model::NodeDumpPlace;
using model::NodeFifos;

// Measured on dumps of PyTorch 2.14 with 8 frames an entry; one of an empty ring is far below the least.
constexpr std::uint64_t kBytesOfEntry = 510, kLeastDump = std::uint64_t{1} << 20;
// The old dump is copied before a new one is asked for, and an incident makes several.
constexpr std::uint64_t kDumpsOfAnIncident = 8;
constexpr std::uint32_t kOthersWrite = 02;

std::string quoted(const std::string& text) {
  return base::shell_quoted(base::printable(text));
}

// "where the pipes should be" for a person: in a container the path is meant as seen in there.
std::string shown(const std::string& reach, const std::string& path) {
  return base::printable(path) + (reach.empty() ? "" : " (" + base::printable(reach) + ")");
}

std::string in_there(const std::string& reach) {
  return reach.empty() ? std::string() : "\n# inside the workers' container";
}

Outcomes fifo_armed(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  std::vector<std::size_t> without;
  std::set<std::size_t> with;
  for (const NodeFifos& fifos : facts.fifos) with.insert(fifos.workers.begin(), fifos.workers.end());
  bool any = false;
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    if (!facts.workers[i].process.environment_known || subject.ring_sizes[i] <= 0) continue;
    any = true;
    if (!with.contains(i)) without.push_back(i);
  }
  if (!any) return not_applicable();
  if (without.empty()) return passed();
  return {{Status::kWarn, "no FIFO is asked for: a dump comes only when PyTorch gives up, and ends the job",
           "export TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/var/log/nccl/fr_pipe_\n"
           "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000   # or no FIFO is made",
           names_of(facts, without)}};
}

// What is wrong with the FIFOs of one stem.
void judge_fifos(const model::NodeFacts& facts, const NodeFifos& fifos, Outcomes& outcomes) {
  const auto add = [&](Status status, std::string detail, std::string fix) {
    outcomes.push_back({status, std::move(detail), std::move(fix), names_of(facts, fifos.workers)});
  };
  if (!fifos.folder.looked) {
    return add(
        Status::kUnknown,
        "the folder of " + shown(fifos.reach, fifos.stem) + " cannot be looked at: " + fifos.folder.trouble,
        "sudo unhang doctor");
  }
  std::set<std::int64_t> ranks;
  for (const auto& [rank, pipe] : fifos.pipes) {
    if (pipe.exists && pipe.kind != model::PathKind::kFifo) {
      add(Status::kFail, shown(fifos.reach, pipe.path) + " is no FIFO: nothing written to it reaches PyTorch",
          "rm " + quoted(pipe.path) + in_there(fifos.reach) + "\n# then restart the workers");
      continue;
    }
    if (pipe.exists) ranks.insert(rank);
  }
  std::vector<std::string> missing;
  std::size_t without_rank = 0;
  for (const std::size_t worker : fifos.workers) {
    const auto& rank = facts.workers[worker].rank;
    if (!rank) {
      ++without_rank;
    } else if (!ranks.contains(*rank)) {
      missing.push_back(std::to_string(*rank));
    }
  }
  const bool too_few = without_rank > 0 && ranks.size() < fifos.workers.size();
  if (missing.empty() && !too_few) return;
  const std::string what =
      !missing.empty()
          ? "the FIFO of rank " + missing.front() +
                (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " others" : "") +
                " is not there: " + shown(fifos.reach, fifos.stem + missing.front() + ".pipe")
          : std::to_string(ranks.size()) + " FIFOs " + shown(fifos.reach, fifos.stem) + "*.pipe for " +
                std::to_string(fifos.workers.size()) + " workers";
  std::string fix = fifos.folder.exists
                        ? std::string(
                              "# made with the first process group, where both are set:\n"
                              "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000\n"
                              "export TORCH_NCCL_DUMP_ON_TIMEOUT=1")
                        : "mkdir -p " + quoted(fifos.stem.substr(0, fifos.stem.rfind('/') + 1)) +
                              in_there(fifos.reach) + "\n# then restart the workers";
  add(Status::kFail, what, fix);
}

Outcomes fifo_there(const NodeSubject& subject) {
  if (subject.facts.fifos.empty()) return not_applicable();
  Outcomes outcomes;
  for (const NodeFifos& fifos : subject.facts.fifos) judge_fifos(subject.facts, fifos, outcomes);
  return outcomes.empty() ? passed() : outcomes;
}

Outcomes fifo_private(const NodeSubject& subject) {
  Outcomes outcomes;
  bool any = false;
  for (const NodeFifos& fifos : subject.facts.fifos) {
    std::set<std::int64_t> users;
    for (const std::size_t worker : fifos.workers) {
      if (const auto& user = subject.facts.workers[worker].user) users.insert(*user);
    }
    for (const auto& [rank, pipe] : fifos.pipes) {
      if (!pipe.exists || pipe.kind != model::PathKind::kFifo || users.empty()) continue;
      any = true;
      if (users.contains(pipe.owner)) continue;
      outcomes.push_back({Status::kFail,
                          shown(fifos.reach, pipe.path) + " belongs to user " + std::to_string(pipe.owner) +
                              ", not to the worker's",
                          "rm " + quoted(pipe.path) + in_there(fifos.reach) + "\n# then restart the workers",
                          {}});
    }
    if (fifos.folder.exists && (fifos.folder.rights & kOthersWrite) != 0) {
      any = true;
      outcomes.push_back({Status::kWarn,
                          "whoever may log in here can trigger dumps, or put a FIFO in the place of " +
                              shown(fifos.reach, fifos.stem) + "*.pipe: all may write to its folder",
                          "install -d -m 0700 /var/log/nccl/pipes" + in_there(fifos.reach) +
                              "\nexport TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/var/log/nccl/pipes/fr_pipe_",
                          names_of(subject.facts, fifos.workers)});
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

// The folders in which a recorder that is on will write.
std::vector<const NodeDumpPlace*> places_in_use(const NodeSubject& subject) {
  std::vector<const NodeDumpPlace*> places;
  for (const NodeDumpPlace& place : subject.facts.dump_places) {
    const bool in_use = std::any_of(place.workers.begin(), place.workers.end(),
                                    [&](std::size_t worker) { return subject.ring_sizes[worker] > 0; });
    if (in_use) places.push_back(&place);
  }
  return places;
}

// One outcome of the first place that has `detail`; `judge` returns nothing where all is well.
template <class Judge>
Outcomes each_place(const NodeSubject& subject, Judge&& judge) {
  Outcomes outcomes;
  bool any = false;
  for (const NodeDumpPlace* place : places_in_use(subject)) {
    if (!place->folder.exists) continue;
    any = true;
    if (std::optional<Outcome> outcome = judge(*place)) {
      if (outcome->evidence.empty()) outcome->evidence = names_of(subject.facts, place->workers);
      outcomes.push_back(std::move(*outcome));
    }
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

std::string folder_of(const NodeDumpPlace& place) {
  const std::size_t slash = place.prefix.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : place.prefix.substr(0, slash);
}

// PyTorch makes the folder of its own default, where it may; not one that was set.
void judge_missing(const model::NodeFacts& facts, const NodeDumpPlace& place, Outcomes& outcomes) {
  const std::string folder = folder_of(place), where = shown(place.reach, folder);
  if (place.is_set) {
    outcomes.push_back({Status::kFail, "the dump folder " + where + " is not there",
                        "mkdir -p " + quoted(folder) + in_there(place.reach),
                        names_of(facts, place.workers)});
    return;
  }
  std::vector<std::size_t> locked_out;
  for (const std::size_t worker : place.workers) {
    if (place.above.exists && may_write(facts.workers[worker], place.above) == false)
      locked_out.push_back(worker);
  }
  if (locked_out.empty()) return;
  outcomes.push_back({Status::kFail,
                      "the dump folder " + where + " is not there, and the worker cannot make it: " +
                          base::printable(place.above.path) +
                          (place.above.read_only ? " is mounted read-only" : " may not be written to"),
                      "# in a folder that is there and can be written:\n"
                      "export TORCH_FR_DUMP_TEMP_FILE=/var/log/nccl/fr_rank_",
                      names_of(facts, locked_out)});
}

Outcomes dump_folder(const NodeSubject& subject) {
  Outcomes outcomes;
  const auto places = places_in_use(subject);
  for (const NodeDumpPlace* place : places) {
    const std::string folder = folder_of(*place), where = shown(place->reach, folder);
    const auto who = names_of(subject.facts, place->workers);
    if (!place->folder.looked) {
      outcomes.push_back({Status::kUnknown,
                          "the dump folder " + where + " cannot be looked at: " + place->folder.trouble,
                          "sudo unhang doctor", who});
    } else if (!place->folder.exists) {
      judge_missing(subject.facts, *place, outcomes);
    } else if (place->folder.kind != model::PathKind::kFolder) {
      outcomes.push_back({Status::kFail, where + " is no folder: dumps cannot be written below it",
                          "export TORCH_FR_DUMP_TEMP_FILE=/var/log/nccl/fr_rank_", who});
    } else {
      std::vector<std::size_t> locked_out;
      for (const std::size_t worker : place->workers) {
        if (may_write(subject.facts.workers[worker], place->folder) == false) locked_out.push_back(worker);
      }
      if (locked_out.empty()) continue;
      const auto& user = subject.facts.workers[locked_out.front()].user;
      outcomes.push_back({Status::kFail,
                          place->folder.read_only
                              ? "the dump folder " + where + " is on a file system that is mounted read-only"
                              : "the dump folder " + where + " may not be written to by user " +
                                    std::to_string(user.value_or(-1)),
                          place->folder.read_only
                              ? std::string("# on a volume that can be written:\n"
                                            "export TORCH_FR_DUMP_TEMP_FILE=/var/log/nccl/fr_rank_")
                              : "sudo chown " + std::to_string(user.value_or(-1)) + " " + quoted(folder) +
                                    in_there(place->reach),
                          names_of(subject.facts, locked_out)});
    }
  }
  return !places.empty() && outcomes.empty() ? passed() : outcomes;
}

Outcomes dump_space(const NodeSubject& subject) {
  return each_place(subject, [&](const NodeDumpPlace& place) -> std::optional<Outcome> {
    std::uint64_t one_round = 0;
    for (const std::size_t worker : place.workers) {
      const auto ring = static_cast<std::uint64_t>(std::max<std::int64_t>(subject.ring_sizes[worker], 0));
      one_round += std::max(std::min(ring, std::uint64_t{1} << 32) * kBytesOfEntry, kLeastDump);
    }
    const std::string where = shown(place.reach, folder_of(place));
    const std::string fix = "df -h " + quoted(folder_of(place)) + "\ndu -xh -d 1 " +
                            quoted(folder_of(place)) + " | sort -h | tail" + in_there(place.reach);
    if (place.folder.inodes_free && *place.folder.inodes_free < 2 * place.workers.size()) {
      return Outcome{
          Status::kFail,
          where + " takes no more files: " + std::to_string(*place.folder.inodes_free) + " inodes are free",
          fix,
          {}};
    }
    const std::uint64_t free = place.folder.bytes_free;
    if (free >= one_round * kDumpsOfAnIncident) return std::nullopt;
    return Outcome{free < one_round ? Status::kFail : Status::kWarn,
                   os::bytes_text(free) + " are free in " + where + "; the dumps of " +
                       std::to_string(place.workers.size()) +
                       (place.workers.size() == 1 ? " worker" : " workers") + " take " +
                       os::bytes_text(one_round),
                   fix,
                   {}};
  });
}

Outcomes dump_in_memory(const NodeSubject& subject) {
  return each_place(subject, [&](const NodeDumpPlace& place) -> std::optional<Outcome> {
    if (place.folder.file_system != "tmpfs" && place.folder.file_system != "ramfs") return std::nullopt;
    return Outcome{Status::kWarn,
                   "dumps go to memory: " + shown(place.reach, folder_of(place)) + " is a " +
                       place.folder.file_system + ", and counts against the workers' limit of memory",
                   "# on a disk, or an emptyDir without medium: Memory:\n"
                   "export TORCH_FR_DUMP_TEMP_FILE=/var/log/nccl/fr_rank_",
                   {}};
  });
}

Outcomes dump_on_network(const NodeSubject& subject) {
  return each_place(subject, [&](const NodeDumpPlace& place) -> std::optional<Outcome> {
    static const std::set<std::string> network{"nfs",    "cifs", "smb2", "smb", "lustre",  "gpfs",
                                               "beegfs", "ceph", "fuse", "9p",  "virtiofs"};
    if (!network.contains(place.folder.file_system)) return std::nullopt;
    return Outcome{Status::kWarn,
                   "dumps go over a network or to another machine's disk: " +
                       shown(place.reach, folder_of(place)) + " is on " + place.folder.file_system,
                   "# on a local disk:\nexport TORCH_FR_DUMP_TEMP_FILE=/var/log/nccl/fr_rank_",
                   {}};
  });
}

Outcomes dump_old(const NodeSubject& subject) {
  return each_place(subject, [&](const NodeDumpPlace& place) -> std::optional<Outcome> {
    if (place.old_dumps.empty()) return std::nullopt;
    std::vector<std::string> files;
    for (const std::string& path : place.old_dumps) files.push_back(base::printable(path));
    const std::string folder = folder_of(place);
    return Outcome{Status::kWarn,
                   std::to_string(place.old_dumps.size()) + " old dumps lie in " +
                       shown(place.reach, folder) + ", from before these workers were started",
                   "mkdir -p " + quoted(folder + "/old") + "\nmv " + quoted(place.prefix) + "[0-9]* " +
                       quoted(folder + "/old/") + in_there(place.reach),
                   files};
  });
}

constexpr Check<NodeSubject> kChecks[] = {
    {"fifo-armed", "a dump can be asked for",
     "With a FIFO all ranks can be dumped while they hang, and the job goes on.", &fifo_armed},
    {"fifo-there", "the FIFOs are there", "A dump that cannot be asked for comes too late, or never.",
     &fifo_there},
    {"fifo-private", "the FIFOs belong to the workers",
     "PyTorch makes them with rights for everybody: only their folder protects them.", &fifo_private},
    {"dump-folder", "dumps can be written where they are meant to go",
     "PyTorch only logs that it could not write, where few look; the evidence is gone.", &dump_folder},
    {"dump-space", "there is room for the dumps of all ranks",
     "A dump that is cut off lacks its last entries.", &dump_space},
    {"dump-in-memory", "dumps go to a disk",
     "They push the job towards its memory limit, and go with the container or the next boot.",
     &dump_in_memory},
    {"dump-on-network", "dumps go to a local disk",
     "The network may be what hangs; and all ranks write at once.", &dump_on_network},
    {"dump-old", "no old dumps lie where new ones will", "They are taken for those of the next hang.",
     &dump_old},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_dumps() {
  return kChecks;
}

}  // namespace unhang::checks
