// SPDX-License-Identifier: Apache-2.0
#include "join/join.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "join/clocks.h"
#include "join/dump_name.h"
#include "join/groups.h"
#include "join/host_names.h"
#include "join/host_of_path.h"
#include "join/identities.h"
#include "join/identity.h"
#include "join/log_coverage.h"
#include "join/log_zones.h"
#include "join/nccl_job.h"
#include "join/process_ranks.h"
#include "join/processes.h"
#include "join/progress.h"
#include "join/ras_ranks.h"
#include "join/same_run.h"

namespace unhang::join {
namespace {

void remap(model::Dump& dump, const model::Vocabulary::Remap& to) {
  for (auto& group : dump.declared_groups) {
    group.name = to.symbols[group.name];
    group.description = to.symbols[group.description];
    group.ranks_text = to.symbols[group.ranks_text];
  }
  for (auto& group : dump.groups) {
    group.name = to.symbols[group.name];
    group.description = to.symbols[group.description];
    group.backend = to.symbols[group.backend];
  }
  for (auto& op : dump.operations) {
    op.signature = to.signatures[op.signature];
    op.stack = to.stacks[op.stack];
  }
}

// The ranks that the job should have: declared by any kept dump, those that left one, and what the person
// said.
void expect_ranks(model::Case& result, const std::vector<JoinedDump>& dumps, RankLists& lists,
                  const Hints& hints) {
  std::set<std::int32_t> expected;
  bool stated = hints.world_size.has_value();
  for (std::int32_t rank = 0; rank < hints.world_size.value_or(0); ++rank) expected.insert(rank);
  std::set<model::SymbolId> seen;
  for (const JoinedDump& dump : dumps) {
    if (!dump.kept()) continue;
    expected.insert(*dump.rank);
    const bool has_sub_groups =
        std::any_of(dump.dump.groups.begin(), dump.dump.groups.end(), [&](const model::DumpGroup& group) {
          return !is_world(result.vocabulary, group.name, group.description);
        });
    for (const auto& group : dump.dump.declared_groups) {
      // gloo's nameless entry holds the last group made: the whole job only where there is no other.
      const bool nameless = result.text(group.name).empty();
      if (nameless && has_sub_groups) continue;
      if (is_world(result.vocabulary, group.name, group.description)) stated = true;
      if (!seen.insert(group.ranks_text).second) continue;
      for (const std::int32_t rank : lists.ranks(group.ranks_text)) expected.insert(rank);
    }
  }
  result.world_inferred = !stated;
  // Ranks are numbered without gaps: of an unstated world, a gap is a rank that left nothing. Not for a few
  // dumps out of many, where nearly all would be gaps.
  constexpr std::int32_t kSparseAtMost = 4;
  if (!stated && !expected.empty() && std::cmp_less(*expected.rbegin(), expected.size() * kSparseAtMost)) {
    for (std::int32_t rank = 0; rank < *expected.rbegin(); ++rank) expected.insert(rank);
  }
  for (const std::int32_t rank : expected) {
    result.ranks.emplace_back();
    result.ranks.back().global_rank = rank;
  }
}

// Files that named a rank and could not be read count as unreadable dumps of that rank.
void fill_coverage(model::Case& result, const std::map<std::int32_t, model::InputIndex>& unreadable) {
  model::CoverageRow row;
  row.source = "flight_recorder";
  for (model::RankIndex index = 0; index < result.ranks.size(); ++index) {
    const model::Rank& rank = result.ranks[index];
    if (rank.input && rank.tail_known) {
      row.seen.push_back(index);
    } else if (rank.input) {
      row.partial.push_back(index);
    } else if (unreadable.count(rank.global_rank) != 0) {
      row.unreadable.push_back(index);
    } else {
      row.absent.push_back(index);
    }
  }
  result.coverage.push_back(std::move(row));
}

std::string majority_version(const std::vector<JoinedDump>& dumps) {
  std::map<std::string, std::size_t> votes;
  for (const JoinedDump& dump : dumps) {
    if (dump.kept() && !dump.dump.comm_library_version.empty()) ++votes[dump.dump.comm_library_version];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::string() : most->first;
}

}  // namespace

void CaseBuilder::add(std::vector<formats::Evidence> batch) {
  std::vector<model::Vocabulary::Remap> remaps;
  const std::size_t first = x_dumps.size();
  for (formats::Evidence& evidence : batch) {
    const auto input = static_cast<model::InputIndex>(x_case.inputs.size());
    x_case.inputs.push_back(
        {std::move(evidence.path), std::move(evidence.kind), std::move(evidence.problems)});
    for (model::RasAnswer& answer : evidence.ras_answers)
      x_ras_answers.push_back({std::move(answer), input, {}});
    for (model::RasEvent& event : evidence.ras_events) x_ras_events.push_back({input, std::move(event)});
    for (model::EngineSample& sample : evidence.engine_samples)
      x_case.engine_readings.push_back({input, {}, {}, std::move(sample)});
    for (model::ProcessSample& sample : evidence.process_samples)
      x_processes.push_back({input, std::move(sample)});
    for (model::Log& log : evidence.logs) x_logs.add(std::move(log), input);
    for (model::BundleManifest& bundle : evidence.bundles) {
      x_facts.add(x_case.inputs[input].path, bundle);
      x_case.bundles.push_back(std::move(bundle));
    }
    for (model::Dump& dump : evidence.dumps) {
      remaps.push_back(x_case.vocabulary.absorb(dump.vocabulary));
      x_dumps.emplace_back();
      x_dumps.back().dump = std::move(dump);
      x_dumps.back().dump.vocabulary = {};
      x_dumps.back().input = input;
    }
  }
  base::parallel_for(remaps.size(), x_threads,
                     [&](std::size_t i) { remap(x_dumps[first + i].dump, remaps[i]); });
}

// What manifests say of other files, now that all are read.
void CaseBuilder::apply_facts() {
  // A manifest is a stranger's: a time that no clock shows is none.
  const auto time_of = [](const FileFacts& facts) -> std::optional<std::int64_t> {
    constexpr std::int64_t kYear2200 = 7'258'118'400ll * 1'000'000'000;
    if (facts.captured_ns <= 0 || facts.captured_ns >= kYear2200) return {};
    return facts.captured_ns;
  };
  for (model::InputIndex i = 0; i < x_case.inputs.size(); ++i) {
    model::Input& input = x_case.inputs[i];
    const FileFacts* facts = x_facts.find(input.path);
    if (facts == nullptr) continue;
    // Whoever captured it knew what it is.
    std::erase_if(input.problems, [](const auto& problem) { return problem.code == "not_recognised"; });
    if (facts->note.starts_with("health")) {
      input.kind = "engine_health";  // what a health check answered: its status stands in the manifest
    } else if (facts->stale && input.kind == "log") {
      x_logs.drop(i);
      input.problems.push_back(
          {.severity = model::Severity::kInfo,
           .code = "older_than_the_job",
           .text = "from before the workers of this job started: kept for people, no evidence",
           .offset = {},
           .bytes_lost = 0});
    }
  }
  for (AskedAnswer& asked : x_ras_answers) {
    if (const FileFacts* facts = x_facts.find(x_case.inputs[asked.source].path))
      asked.time_ns = time_of(*facts);
  }
  for (JoinedDump& dump : x_dumps) {
    if (const FileFacts* facts = x_facts.find(x_case.inputs[dump.input].path)) dump.pid = facts->pid;
  }
  for (model::EngineReading& reading : x_case.engine_readings) {
    const std::string& path = x_case.inputs[reading.input].path;
    if (const FileFacts* facts = x_facts.find(path)) {
      reading.engine = facts->asked;
      reading.time_ns = time_of(*facts);
    }
  }
  std::stable_sort(
      x_case.engine_readings.begin(), x_case.engine_readings.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.engine, a.time_ns.value_or(0)) < std::tuple(b.engine, b.time_ns.value_or(0));
      });
}

model::Case CaseBuilder::finish(const Hints& hints) {
  RankLists lists(x_case.vocabulary);
  apply_facts();
  set_aside_other_instances(hints);
  identify(x_dumps, lists, x_case);
  for (JoinedDump& dump : x_dumps) {
    const FileFacts* facts = x_facts.find(x_case.inputs[dump.input].path);
    if (facts != nullptr && facts->stale && dump.kept())
      dump.set_aside = "an earlier run left it: it is older than the process that was to write it";
  }
  set_aside_strangers(x_dumps, lists, x_case);
  doubt_hosts_of_names();
  x_case.has_dumps =
      std::any_of(x_dumps.begin(), x_dumps.end(), [](const auto& dump) { return dump.kept(); });
  expect_ranks(x_case, x_dumps, lists, hints);
  std::int64_t dumped_ns = 0;
  for (const JoinedDump& dump : x_dumps) {
    if (!dump.kept()) continue;
    dumped_ns = std::max(dumped_ns, dump.last_ns());
    model::Rank& rank = x_case.ranks[*x_case.find_rank(*dump.rank)];
    rank.pid = dump.pid;
    if (rank.host.empty()) rank.host = dump.host;
  }
  join_ras(std::move(x_ras_answers), std::move(x_ras_events), dumped_ns, job_of(x_logs), x_case);
  for (const JoinedDump& dump : x_dumps) {
    if (!dump.kept()) x_case.set_aside.push_back({dump.input, dump.set_aside, dump.is_second});
  }
  const std::vector<DumpGroups> groups = unite_groups(x_dumps, lists, x_case);
  for (std::size_t i = 0; i < x_dumps.size(); ++i) {
    for (const auto& op : x_dumps[i].dump.operations) {
      if (!x_dumps[i].kept()) break;
      // Every entry carries both counters: one of them tells of point-to-point work that has left the dump.
      if (op.has(model::Operation::kP2p) || op.p2p_sequence > 0) {
        x_case.groups[groups[i].by_dump_group[op.group]].carries_p2p = true;
      }
    }
  }
  x_case.comm_library_version = majority_version(x_dumps);
  base::parallel_for(x_dumps.size(), x_threads, [&](std::size_t i) {
    if (x_dumps[i].kept())
      trace_progress(x_dumps[i], groups[i], x_case, x_case.ranks[*x_case.find_rank(*x_dumps[i].rank)]);
  });
  std::map<std::int32_t, model::InputIndex> unreadable;
  std::set<model::InputIndex> with_dump;
  for (const JoinedDump& dump : x_dumps) with_dump.insert(dump.input);
  for (model::InputIndex input = 0; input < x_case.inputs.size(); ++input) {
    const auto& problems = x_case.inputs[input].problems;
    const bool lost = std::any_of(problems.begin(), problems.end(),
                                  [](const auto& p) { return p.severity == model::Severity::kDataLoss; });
    if (!lost || with_dump.count(input) != 0) continue;
    if (const auto rank = read_dump_name(x_case.inputs[input].path).rank) unreadable[*rank] = input;
  }
  set_aside_other_logs();
  name_log_hosts();
  x_case.logs = x_logs.finish(x_case.inputs, hints.logs, known_world());
  // Where nobody looked for dumps their absence says nothing.
  const bool others_only = !x_case.ras.views.empty() || !x_case.ras.events.empty() ||
                           !x_case.engine_readings.empty() || x_case.logs.lines != 0 || !x_processes.empty();
  if (!x_dumps.empty() || !unreadable.empty() || !others_only) fill_coverage(x_case, unreadable);
  cover_ras(x_case);
  join_processes(std::move(x_processes), x_facts, x_case);
  join_identities(x_facts, x_case);
  cover_logs(x_facts, x_case);
  x_case.time_assumptions = x_logs.assumptions();
  infer_zones(x_case);
  estimate_clocks(x_case);
  return std::move(x_case);
}

// The host in a dump's name may be a job's or a program's. It counts where other evidence knows that host, or
// where nothing else names hosts and the names differ from dump to dump.
void CaseBuilder::doubt_hosts_of_names() {
  std::set<std::string, std::less<>> known = x_logs.hosts();
  for (const model::BundleManifest& bundle : x_case.bundles) known.insert(bundle.host);
  for (const model::ProcessReading& reading : x_processes) known.insert(reading.sample.host);
  known.erase("");
  std::set<std::string, std::less<>> named;
  for (const JoinedDump& dump : x_dumps) {
    if (!dump.host.empty()) named.insert(dump.host);
  }
  if (known.empty() && x_ras_answers.empty() && named.size() > 1) return;
  // Each name is looked up once: every dump of a machine has the same.
  std::erase_if(named, [&](const std::string& name) {
    return std::none_of(known.begin(), known.end(), [&](const std::string& host) {
      return !is_host_address(host) && may_be_same_host(host, name);
    });
  });
  for (JoinedDump& dump : x_dumps) {
    if (named.count(dump.host) == 0) dump.host.clear();
  }
}

// A log in which no line names its host: the manifest does, or the path.
void CaseBuilder::name_log_hosts() {
  std::set<std::string, std::less<>> known = x_logs.hosts();
  for (const model::Rank& rank : x_case.ranks) {
    if (!rank.host.empty()) known.insert(rank.host);
  }
  for (const model::RasView& view : x_case.ras.views) {
    for (const model::RasCommunicator& communicator : view.communicators) {
      for (const model::RasRank& rank : communicator.ranks) {
        if (!rank.host.empty()) known.insert(rank.host);
      }
    }
  }
  for (const model::BundleManifest& bundle : x_case.bundles) {
    if (!bundle.host.empty()) known.insert(bundle.host);
  }
  for (const model::InputIndex input : x_logs.without_host()) {
    const std::string& path = x_case.inputs[input].path;
    const FileFacts* facts = x_facts.find(path);
    x_logs.name_host(input, facts != nullptr ? facts->host : host_in_path(path, known));
  }
}

// How many ranks the job has, where dumps or RAS say it.
std::optional<std::int32_t> CaseBuilder::known_world() const {
  if (x_case.ranks.empty() || x_case.world_inferred) return {};
  return static_cast<std::int32_t>(x_case.ranks.size());
}

}  // namespace unhang::join
