// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>

#include "checks/env_calibration.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/env_plan_flags.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"

namespace unhang::cli {
namespace {

constexpr std::chrono::hours kLongestWindow{24};
constexpr double kMostRate = 1e7;

class EnvCalibrateCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "env calibrate",
        .group = "Prepare a job",
        .summary = "compute ring, limits and log size from a measured rate",
        .description =
            "How long the Flight Recorder's ring has to be for a wanted history, which time limits fit, and "
            "how large logs become, from the number of collectives that a rank makes in a second. The rate "
            "is "
            "given, or measured: in Flight Recorder dumps of a healthy job, in two answers of RAS some "
            "seconds "
            "apart (unhang ras status --raw FILE), or in logs with NCCL's COLL lines. The calculation stands "
            "in the comments.",
        .positional = evidence_paths(),
        .flags = {{.name = "--rate",
                   .value = "N",
                   .help = "calls a second of one rank, in the place of evidence",
                   .target = &x_rate},
                  {.name = "--window",
                   .value = "DURATION",
                   .help = "of history that a dump should hold",
                   .target = &x_window}},
        .examples = {{"unhang env calibrate dumps/ --window 60s", "From dumps of the job when it was well."},
                     {"unhang env calibrate --rate 850", "From a number that you know."}},
        .exit_notes = {{kExitOk, "computed"}}};
    command.positional.minimum = 0;
    for (Flag& flag : env_plan_flags(x_flags)) {
      if (flag.name != "--directory") command.flags.push_back(std::move(flag));
    }
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    const auto options = env_plan_options(x_flags);
    if (!options) return complain(streams, options.error());
    if (const char* wrong = wrong_flags(paths)) return complain(streams, {base::ErrorCode::kUsage, wrong});
    checks::CollectiveRates rates;
    if (!x_rate) {
      x_load.complaints = &streams.err;
      const auto joined = load_case(paths, x_load);
      if (!joined) return complain(streams, joined.error());
      rates = checks::measure_rates(*joined);
    }
    const auto plan =
        checks::calibration_plan(rates, {.software = options->software, .window = x_window, .rate = x_rate});
    if (!plan) {
      return complain(streams,
                      {base::ErrorCode::kData,
                       "no rate can be measured in this evidence: it needs dumps with finished calls "
                       "(TORCH_INCLUDE_ONLY_ACTIVE leaves them out), or two answers of RAS between which "
                       "something moved; or say --rate N"});
    }
    write_env_plan(*plan, x_flags, streams);
    return kExitOk;
  }

 private:
  const char* wrong_flags(const std::vector<std::string>& paths) const {
    if (paths.empty() && !x_rate) return "name evidence, or say the rate with --rate N";
    if (!paths.empty() && x_rate) return "evidence and --rate: only one of them can be the rate";
    if (x_rate && !(*x_rate > 0 && *x_rate <= kMostRate))
      return "flag --rate: a number above 0, at most 10000000";
    if (x_window <= std::chrono::nanoseconds::zero() || x_window > kLongestWindow)
      return "flag --window: more than 0 s and at most 24 h";
    return nullptr;
  }

  EnvPlanFlags x_flags;
  LoadOptions x_load;
  std::optional<double> x_rate;
  std::chrono::nanoseconds x_window = std::chrono::seconds(30);
};

}  // namespace

std::unique_ptr<CommandBase> make_env_calibrate_command() {
  return std::make_unique<EnvCalibrateCommand>();
}

}  // namespace unhang::cli
