// SPDX-License-Identifier: Apache-2.0
//
// How good the verdicts are, over thousands of simulated incidents in random layouts, half of them with
// pieces missing. All in memory and in one process: simulate, read, join, diagnose, judge.
//
//     accuracy_simulated [--count N] [--first N] [--threads N] [--missing half|none|all] [--fault KIND]
//     [--misses N]
//                        [--floors] [--floor NAME=VALUE] [--write DIR]
//
// Prints a table by fault and by confidence, and the misses with the number that makes the incident again
// (--first NUMBER --write DIR, with the same --missing and --fault).
// --floors: exit status 1 where the bars are not held. --floor NAME=VALUE holds another one: exact (percent
// of complete incidents with the culprits exactly), high (percent of "high" that is right),
// confident-innocent and confident-wrong (at most so many).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/rank_set.h"
#include "detect/resolve.h"
#include "formats/catalogue.h"
#include "join/join.h"
#include "os/write_file.h"
#include "simulate/judge.h"
#include "simulate/random_plan.h"
#include "simulate/simulate.h"

namespace {

using namespace unhang;
using simulate::Answer;
using simulate::Naming;

struct Options {
  std::uint64_t count = 10000;
  std::uint64_t first = 1;
  unsigned threads = 2;
  std::string missing = "half";
  std::optional<simulate::FaultKind> fault;
  std::uint64_t misses = 20;  // to show of each kind
  std::map<std::string, double> floors;
  std::string write_to;
};

struct Outcome {
  bool made = false;  // the plan could be carried out
  std::uint64_t number = 0;
  simulate::Truth truth;
  simulate::Judgement judged;
  model::Category category = model::Category::kInconclusive;
  std::string cause, headline;
  model::Confidence confidence = model::Confidence::kLow;
  std::string named;
};

simulate::Plan plan_of(std::uint64_t number, const Options& options) {
  simulate::RandomPlanRules rules;
  rules.missing = options.missing == "all" || (options.missing == "half" && number % 2 == 0);
  simulate::Plan plan = simulate::random_plan(number, rules);
  if (options.fault) plan.fault = *options.fault;
  return plan;
}

std::string named_by(const model::Verdict& verdict) {
  std::string out;
  for (const model::Subject& each : verdict.culprits) {
    if (!out.empty()) out += "; ";
    out += model::name_of(each.kind);
    if (each.rank) out += fmt::format(" rank {}", *each.rank);
    if (each.group_rank) out += fmt::format(" group {} rank {}", each.group, *each.group_rank);
    if (each.peer) out += fmt::format(" peer {}", *each.peer);
    if (!each.host.empty()) out += " " + each.host;
    if (each.pid) out += fmt::format(" pid {}", *each.pid);
    if (!each.gpu.empty()) out += " " + each.gpu;
    if (!each.nic.empty()) out += " " + each.nic;
  }
  return out;
}

Outcome run(std::uint64_t number, const Options& options) {
  Outcome out;
  out.number = number;
  std::map<std::string, std::string> files;
  const auto truth = simulate::simulate(plan_of(number, options),
                                        [&](std::string_view name, std::string_view bytes) -> base::Result<> {
                                          files.emplace(name, bytes);
                                          return {};
                                        });
  if (!truth) return out;
  out.made = true;
  out.truth = *truth;
  join::CaseBuilder builder(1);
  std::vector<formats::Evidence> batch;
  for (auto& [name, bytes] : files) {
    if (name == "truth.json") continue;
    formats::Evidence evidence = formats::read_evidence(name, bytes);
    if (evidence.kind == "unknown") evidence.logs.clear();
    batch.push_back(std::move(evidence));
    bytes.clear();
  }
  builder.add(std::move(batch));
  const model::Case joined = builder.finish({});
  const model::Verdict verdict = detect::diagnose(joined);
  out.judged = simulate::judge(out.truth, verdict);
  out.category = verdict.category;
  out.cause = verdict.cause;
  out.confidence = verdict.confidence;
  out.headline = verdict.headline;
  out.named = named_by(verdict);
  return out;
}

struct Row {
  std::array<std::uint64_t, simulate::kAnswers> answers = {};
  std::uint64_t total = 0, exact = 0, innocent = 0, confident_innocent = 0;

  void add(const Outcome& outcome) {
    ++total;
    ++answers[static_cast<std::size_t>(outcome.judged.answer)];
    exact += outcome.judged.naming == Naming::kExact;
    innocent += outcome.judged.naming == Naming::kInnocent;
    confident_innocent += outcome.judged.confident_innocent;
  }
  std::uint64_t right() const { return answers[0] + answers[1]; }
};

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_row(const std::string& name, const Row& row) {
  fmt::print("{:<34}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>9.2f}{:>9}\n", name, row.total, row.answers[0],
             row.answers[1], row.answers[2], row.answers[3], row.answers[4], percent(row.exact, row.total),
             row.innocent);
}

struct Figures {
  Row complete, incomplete;
  std::map<std::string, Row> by_fault;       // "complete gpu_xid"
  std::map<std::string, Row> by_confidence;  // "high"

  void add(const Outcome& outcome) {
    const bool whole = outcome.truth.complete;
    (whole ? complete : incomplete).add(outcome);
    by_fault[(whole ? "complete " : "missing  ") + outcome.truth.scenario].add(outcome);
    by_confidence[std::string(model::name_of(outcome.confidence))].add(outcome);
  }

  void print() const {
    fmt::print("{:<34}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>9}{:>9}\n", "", "cases", "right", "accept", "honest",
               "wrong", "CONFID", "exact %", "innocent");
    for (const auto& [name, row] : by_fault) print_row(name, row);
    print_row("all complete", complete);
    print_row("all with pieces missing", incomplete);
    for (const auto& [name, row] : by_confidence) {
      fmt::print("confidence {:<7}{:>7} cases, {:.2f} % right or acceptable\n", name, row.total,
                 percent(row.right(), row.total));
    }
  }

  std::map<std::string, double> measured() const {
    const auto high = by_confidence.find("high");
    return {{"exact", percent(complete.exact, complete.total)},
            {"high", high == by_confidence.end() ? 100.0 : percent(high->second.right(), high->second.total)},
            {"confident-innocent",
             static_cast<double>(complete.confident_innocent + incomplete.confident_innocent)},
            {"confident-wrong", static_cast<double>(complete.answers[4] + incomplete.answers[4])}};
  }

  // 1 where a floor is not held.
  int check(const std::map<std::string, double>& floors) const {
    if (floors.empty()) return 0;
    int failed = complete.total + incomplete.total == 0 ? 1 : 0;
    const auto figures = measured();
    for (const auto& [name, floor] : floors) {
      const double value = figures.at(name);
      const bool held = name.starts_with("confident") ? value <= floor : value >= floor;
      if (held) continue;
      fmt::print("BELOW THE FLOOR: {} is {:.2f}, asked is {:.2f}\n", name, value, floor);
      failed = 1;
    }
    return failed;
  }
};

bool is_miss(const Outcome& outcome) {
  return outcome.judged.answer >= Answer::kWrong ||
         (outcome.truth.complete && outcome.judged.naming != Naming::kExact);
}

void print_miss(const Outcome& outcome) {
  const simulate::Plan& plan = outcome.truth.plan;
  fmt::print("MISS {} {}: {}{} | {}/{} {} [{}] | culprits {}{}\n     {}\n     truth: {}\n", outcome.number,
             outcome.truth.scenario, simulate::name_of(outcome.judged.answer),
             outcome.judged.naming == Naming::kInnocent ? ", innocent"
             : outcome.judged.naming == Naming::kNobody ? ", nobody named"
             : outcome.judged.naming == Naming::kPart   ? ", not all named"
                                                        : "",
             model::name_of(outcome.category), outcome.cause, model::name_of(outcome.confidence),
             outcome.named, base::fold_ranks(outcome.truth.culprits), plan.missing ? ", pieces missing" : "",
             outcome.headline, outcome.truth.description);
}

// "exact=99"
bool add_floor(const std::string& text, Options& options) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  double value = 0;
  const auto read = std::from_chars(text.data() + equals + 1, text.data() + text.size(), value);
  options.floors[name] = value;
  return read.ec == std::errc{} && Figures().measured().contains(name);
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--floors") {
      options.floors = {{"exact", 99.0}, {"high", 98.0}, {"confident-innocent", 0.0}};
      continue;
    }
    if (i + 1 >= argc) return std::nullopt;
    const std::string value = argv[++i];
    const auto number = [&](auto& target) {
      return std::from_chars(value.data(), value.data() + value.size(), target).ec == std::errc{};
    };
    bool known = true;
    if (name == "--count") {
      known = number(options.count);
    } else if (name == "--first") {
      known = number(options.first);
    } else if (name == "--threads") {
      known = number(options.threads);
    } else if (name == "--misses") {
      known = number(options.misses);
    } else if (name == "--missing") {
      options.missing = value;
    } else if (name == "--write") {
      options.write_to = value;
    } else if (name == "--floor") {
      known = add_floor(value, options);
    } else {
      known = name == "--fault" && (options.fault = simulate::parse_fault(value)).has_value();
    }
    if (!known) return std::nullopt;
  }
  return options;
}

// Writes the incident of the first number into a folder, for `unhang diagnose`.
int write(const Options& options) {
  const auto truth = simulate::simulate(
      plan_of(options.first, options), [&](std::string_view name, std::string_view bytes) -> base::Result<> {
        const std::string path = options.write_to + "/" + std::string(name);
        if (auto made = os::make_folder(std::filesystem::path(path).parent_path().string()); !made)
          return made;
        return os::write_file(path, bytes);
      });
  if (!truth) fmt::print("{}\n", truth.error().message);
  return truth ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: see bench/README.md\n");
    return 64;
  }
  if (!options->write_to.empty()) return write(*options);
  Figures figures;
  std::map<std::string, std::uint64_t> shown;
  constexpr std::uint64_t kBatch = 256;  // outcomes held at once
  std::uint64_t made = 0;
  for (std::uint64_t first = options->first; made < options->count; first += kBatch) {
    std::vector<Outcome> outcomes(kBatch);
    base::parallel_for(kBatch, options->threads,
                       [&](std::size_t i) { outcomes[i] = run(first + i, *options); });
    for (const Outcome& outcome : outcomes) {
      if (!outcome.made || made >= options->count) continue;
      ++made;
      figures.add(outcome);
      if (is_miss(outcome) && shown[outcome.truth.scenario]++ < options->misses) print_miss(outcome);
    }
    if (options->fault && made == 0 && first > 100 * kBatch) break;
  }
  figures.print();
  return figures.check(options->floors);
}
