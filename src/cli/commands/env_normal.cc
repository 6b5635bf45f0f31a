// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/env_plan_flags.h"
#include "cli/exit_codes.h"

namespace unhang::cli {
namespace {

class EnvNormalCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "env normal",
        .group = "Prepare a job",
        .summary = "print the variables that a job should always have",
        .description =
            "Variables of NCCL, PyTorch and the engine that leave evidence of a stall and cost nothing worth "
            "measuring, each with its reason, for the releases that the job runs: names and defaults differ.",
        .flags = env_plan_flags(x_flags),
        .examples = {{"unhang env normal --nccl-version 2.28.9 --torch-version 2.9 > job.env",
                      "A file that a launch script sources."},
                     {"unhang env normal --engine vllm --format kubernetes", "For a container of a pod."}},
        .exit_notes = {{kExitOk, "printed"}}};
    return command;
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    const auto options = env_plan_options(x_flags);
    if (!options) return complain(streams, options.error());
    write_env_plan(checks::normal_plan(*options), x_flags, streams);
    return kExitOk;
  }

 private:
  EnvPlanFlags x_flags;
};

}  // namespace

std::unique_ptr<CommandBase> make_env_normal_command() {
  return std::make_unique<EnvNormalCommand>();
}

}  // namespace unhang::cli
