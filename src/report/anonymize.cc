// SPDX-License-Identifier: Apache-2.0
#include "report/anonymize.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace unhang::report {
namespace {

using base::AnonymousNames;
using model::LogEventKind;

// Whether LogEvent::peer holds a host or an address (model/log_event.h).
bool peer_is_host(LogEventKind kind) {
  switch (kind) {
    case LogEventKind::kInterfaceChosen:
    case LogEventKind::kConnectFailed:
    case LogEventKind::kConnectRetry:
    case LogEventKind::kConnectionClosed:
    case LogEventKind::kConnectionReset:
    case LogEventKind::kCompletionError:
    case LogEventKind::kNetSizeMismatch:
    case LogEventKind::kRasPeerDead:
    case LogEventKind::kStoreUnreachable:
    case LogEventKind::kGlooClosed:
      return true;
    default:
      return false;
  }
}

bool subject_is_host(LogEventKind kind) {
  return kind == LogEventKind::kProcessExit || kind == LogEventKind::kNodeFailed;
}

// Whether the value of a bundle's label tells whose it is.
bool tells_a_name(std::string_view label) {
  constexpr std::array<std::string_view, 8> kParts{"node",    "pod",  "host", "job",
                                                   "cluster", "name", "user", "team"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return label.find(part) != std::string_view::npos; });
}

// Names of machines, pods and jobs that become part of commands.
void learn_process(const model::BundleProcess& process, AnonymousNames& names) {
  for (const auto& [variable, value] : process.environment) {
    if (variable == "JOBSET_NAME") names.add_name(value);
    if (variable == "LWS_LEADER_ADDRESS") names.add_host(value.substr(0, value.find('.')));
    if (variable == "POD_NAME" || variable == "NODE_NAME") names.add_host(value);
  }
}

void learn_bundle(const model::BundleManifest& bundle, AnonymousNames& names) {
  names.add_host(bundle.host);
  for (const auto& [label, value] : bundle.labels) {
    if (label.find("node") != std::string::npos || label.find("pod") != std::string::npos)
      names.add_host(value);
  }
  // "host gpu-b07", "pod prod/vllm-0, container vllm", "node gpu-b07 of job 42"
  for (const model::BundleSource& source : bundle.sources) {
    const std::size_t kind = source.asked.find(' ');
    if (source.kind != "member" || kind == std::string::npos) continue;
    const std::string name =
        source.asked.substr(kind + 1, source.asked.find_first_of(" ,", kind + 1) - kind - 1);
    names.add_host(name.substr(name.rfind('/') + 1));
  }
  for (const model::BundleProcess& process : bundle.processes) learn_process(process, names);
  names.add_name(bundle.instance);
  names.add_name(bundle.deployment);
  for (const auto& [label, value] : bundle.labels) {
    if (tells_a_name(label)) names.add_name(value);
  }
}

void learn_subjects(const std::vector<model::Subject>& subjects, AnonymousNames& names) {
  for (const model::Subject& subject : subjects) names.add_host(subject.host);
}

void learn_fields(const model::Case& evidence, AnonymousNames& names) {
  for (const model::Rank& rank : evidence.ranks) names.add_host(rank.host);
  for (const model::RasView& view : evidence.ras.views) {
    for (const auto& communicator : view.communicators) {
      for (const auto& rank : communicator.ranks) names.add_host(rank.host);
    }
    for (const auto& process : view.lost_processes) names.add_host(process.host);
  }
  for (const auto& [input, event] : evidence.ras.events) {
    names.add_host(event.host);
    names.add_host(event.address);
  }
  for (const model::BundleManifest& bundle : evidence.bundles) learn_bundle(bundle, names);
  for (const model::ProcessReading& reading : evidence.processes) names.add_host(reading.sample.host);
  learn_names(evidence.logs, names);
  for (const model::HostIdentity& host : evidence.hosts) {
    names.add_host(host.name);
    for (const std::string& alias : host.aliases) names.add_host(alias);
  }
}

// What stands in front of "/mlx5_2" or of " and gpu-b07" is a machine, and the whole may be one.
void learn_subject(const std::string& subject, AnonymousNames& names) {
  if (subject.starts_with("rank")) return;
  constexpr std::string_view kAnd = " and ";
  const std::size_t pair = subject.find(kAnd);
  names.add_host(subject.substr(0, std::min(pair, subject.find('/'))));
  if (pair != std::string::npos) names.add_host(subject.substr(pair + kAnd.size()));
}

void learn_fields(const model::Verdict& verdict, AnonymousNames& names) {
  for (const std::string& subject : verdict.recovery.retest) learn_subject(subject, names);
  for (const model::Recurrence& recurrence : verdict.history) learn_subject(recurrence.subject, names);
  learn_subjects(verdict.culprits, names);
  learn_subjects(verdict.suspects, names);
  learn_subjects(verdict.victims, names);
  for (const model::Finding& finding : verdict.findings) learn_subjects(finding.culprits, names);
  for (const std::string& host : verdict.blast_radius.hosts) names.add_host(host);
  for (const std::string& instance : verdict.blast_radius.instances) names.add_name(instance);
  for (const model::TimelineEvent& event : verdict.timeline) names.add_host(event.host);
  for (const model::ClockOffset& clock : verdict.clocks) names.add_host(clock.host);
}

// `Visit` is called with each text that can reach an output, and may change it.
template <typename Visit>
void each(std::vector<std::string>& texts, const Visit& visit) {
  for (std::string& text : texts) visit(text);
}

template <typename Visit>
void each_of_ras(model::RasEvidence& ras, const Visit& visit) {
  for (model::RasView& view : ras.views) {
    for (auto& communicator : view.communicators) {
      for (auto& rank : communicator.ranks) visit(rank.host);
    }
    for (auto& process : view.lost_processes) visit(process.host);
    for (auto& process : view.contradicted) visit(process.host);
  }
  for (auto& [input, event] : ras.events) {
    visit(event.host);
    visit(event.address);
    visit(event.details);
  }
}

template <typename Visit>
void each_of_bundle(model::BundleManifest& bundle, const Visit& visit) {
  visit(bundle.host);
  visit(bundle.instance);
  visit(bundle.deployment);
  for (auto& [label, value] : bundle.labels) visit(value);
  for (model::BundleSource& source : bundle.sources) {
    visit(source.asked);
    visit(source.reason);
    for (model::BundleFile& file : source.files) {
      visit(file.path);
      visit(file.original_path);
      visit(file.note);
    }
  }
  for (model::BundleProcess& process : bundle.processes) {
    visit(process.name);
    for (auto& [variable, value] : process.environment) visit(value);
  }
}

template <typename Visit>
void each_of_log(model::Log& log, const Visit& visit) {
  for (model::LogOrigin& origin : log.origins) {
    visit(origin.host);
    visit(origin.label);
  }
  for (model::LogEvent& event : log.events) {
    visit(event.subject);
    visit(event.peer);
    visit(event.detail);
    visit(event.text);
  }
  for (model::WatchdogTimeout& timeout : log.timeouts) {
    visit(timeout.group);
    visit(timeout.group_description);
  }
  for (model::GpuTable& gpu : log.gpus) {
    for (auto& [field, value] : gpu.fields) visit(value);
  }
  for (model::BandwidthRun& run : log.bandwidth_runs) each(run.hosts, visit);
  visit(log.last_text);
}

template <typename Visit>
void each_of_process(model::ProcessSample& process, const Visit& visit) {
  visit(process.host);
  visit(process.program);
  each(process.not_readable, visit);
  for (model::ThreadSample& thread : process.threads) {
    visit(thread.name);
    for (model::StackFrame& frame : thread.frames) visit(frame.file);
  }
}

// Ids stay: a table with other texts in the same order. Two texts that became one are told apart by a number.
template <typename Visit>
void each_symbol(base::SymbolTable& symbols, const Visit& visit) {
  base::SymbolTable changed;
  for (base::SymbolTable::Id id = 1; id < symbols.size(); ++id) {
    std::string text(symbols.text(id));
    visit(text);
    std::string own = text;
    for (std::size_t number = id; changed.intern(own) != id; ++number)
      own = text + " (" + std::to_string(number) + ")";
  }
  symbols = std::move(changed);
}

template <typename Visit>
void each_text(model::Case& evidence, const Visit& visit) {
  for (model::Input& input : evidence.inputs) {
    visit(input.path);
    for (model::ImportProblem& problem : input.problems) visit(problem.text);
  }
  each_symbol(evidence.vocabulary.symbols, visit);
  for (model::Rank& rank : evidence.ranks) visit(rank.host);
  for (model::SetAside& aside : evidence.set_aside) visit(aside.reason);
  for (model::HostClock& clock : evidence.clocks) {
    visit(clock.host);
    visit(clock.basis);
  }
  for (model::TimeAssumption& assumed : evidence.time_assumptions) visit(assumed.text);
  for (model::Conflict& conflict : evidence.conflicts) visit(conflict.text);
  for (model::RankIdentity& identity : evidence.identities) {
    for (model::IdentityFact& fact : identity.facts) visit(fact.value);
  }
  for (model::HostIdentity& host : evidence.hosts) {
    visit(host.name);
    each(host.aliases, visit);
  }
  each_of_ras(evidence.ras, visit);
  for (model::EngineReading& reading : evidence.engine_readings) {
    visit(reading.engine);
    for (model::EngineSeries& series : reading.sample.series) visit(series.labels);
  }
  for (model::BundleManifest& bundle : evidence.bundles) each_of_bundle(bundle, visit);
  each_of_log(evidence.logs, visit);
  for (model::ProcessReading& reading : evidence.processes) each_of_process(reading.sample, visit);
}

template <typename Visit>
void each_of_subjects(std::vector<model::Subject>& subjects, const Visit& visit) {
  for (model::Subject& subject : subjects) {
    visit(subject.group);
    visit(subject.host);
    visit(subject.gpu);
    visit(subject.nic);
    visit(subject.why);
  }
}

template <typename Visit>
void each_of_stack(std::vector<model::StackLine>& stack, const Visit& visit) {
  for (model::StackLine& line : stack) {
    visit(line.function);
    visit(line.file);
  }
}

template <typename Visit>
void each_of_findings(model::Verdict& verdict, const Visit& visit) {
  for (model::Finding& finding : verdict.findings) {
    visit(finding.text);
    each_of_subjects(finding.culprits, visit);
    each(finding.rules_out, visit);
  }
  for (model::Alternative& alternative : verdict.alternatives) {
    each(alternative.speaks_for, visit);
    each(alternative.speaks_against, visit);
    visit(alternative.decide_by);
  }
}

template <typename Visit>
void each_text(model::Verdict& verdict, const Visit& visit) {
  visit(verdict.root);
  visit(verdict.headline);
  for (auto* subjects : {&verdict.culprits, &verdict.suspects, &verdict.victims})
    each_of_subjects(*subjects, visit);
  visit(verdict.where.group);
  visit(verdict.where.operation);
  each_of_stack(verdict.where.stack, visit);
  for (auto* texts : {&verdict.blast_radius.groups, &verdict.blast_radius.hosts,
                      &verdict.blast_radius.instances, &verdict.not_seen})
    each(*texts, visit);
  each_of_findings(verdict, visit);
  for (model::EvidenceItem& item : verdict.evidence) {
    visit(item.file);
    visit(item.text);
  }
  for (model::ProgressSignal& signal : verdict.progress) {
    visit(signal.signal);
    visit(signal.scope);
    visit(signal.why_not);
  }
  for (model::TimelineEvent& event : verdict.timeline) {
    visit(event.clock);
    visit(event.host);
    visit(event.event);
  }
  visit(verdict.times.stalled_basis);
  for (model::RecoveryStep& step : verdict.recovery.steps) {
    visit(step.why);
    visit(step.command);
  }
  each(verdict.recovery.retest, visit);
  for (model::Recurrence& recurrence : verdict.history) {
    visit(recurrence.subject);
    visit(recurrence.last);
  }
  visit(verdict.times.lost_basis);
  for (model::ClockOffset& clock : verdict.clocks) {
    visit(clock.host);
    visit(clock.basis);
  }
  for (model::RankStack& stack : verdict.stacks) each_of_stack(stack.frames, visit);
}

}  // namespace

void learn_names(const model::Log& log, AnonymousNames& names) {
  for (const model::LogOrigin& origin : log.origins) names.add_host(origin.host);
  for (const model::LogEvent& event : log.events) {
    if (peer_is_host(event.kind)) names.add_host(event.peer);
    if (subject_is_host(event.kind)) names.add_host(event.subject);
    for (const std::string* text : {&event.peer, &event.detail, &event.text}) (void)names.replace(*text);
  }
  for (const model::BandwidthRun& run : log.bandwidth_runs) {
    for (const std::string& host : run.hosts) names.add_host(host);
  }
}

void anonymize(model::Case& evidence, model::Verdict* verdict, AnonymousNames& names) {
  learn_fields(evidence, names);
  if (verdict != nullptr) learn_fields(*verdict, names);
  each_of_log(evidence.logs, [&](const std::string& text) { names.remember_cut(text); });
  each_of_ras(evidence.ras, [&](const std::string& text) { names.remember_cut(text); });
  // Texts name hosts and users, too; what one of them tells counts for all.
  const auto learn = [&](const std::string& text) { (void)names.replace(text); };
  each_text(evidence, learn);
  if (verdict != nullptr) each_text(*verdict, learn);
  const auto change = [&](std::string& text) { text = names.replace_cut(text); };
  each_text(evidence, change);
  if (verdict != nullptr) each_text(*verdict, change);
}

}  // namespace unhang::report
