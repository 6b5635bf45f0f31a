// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.h"
#include "cli/complain.h"
#include "cli/env_plan_flags.h"
#include "cli/exit_codes.h"

namespace unhang::cli {
namespace {

constexpr std::array kCategories{model::Category::kInitializationHang,
                                 model::Category::kCollectiveDesync,
                                 model::Category::kTransportStall,
                                 model::Category::kPerformanceDegradation,
                                 model::Category::kProcessOrDeviceUnavailable,
                                 model::Category::kNotCommunication,
                                 model::Category::kInconclusive};

class EnvIncidentCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "env incident",
        .group = "Prepare a job",
        .summary = "print the variables for the restart after a failure",
        .description =
            "What unhang env normal prints, and what shows more of one kind of failure when it comes again. "
            "The category is the one that unhang diagnose gave. Experiments and what costs speed are "
            "commented out.\n\n"
            "NCCL and PyTorch read variables once, when they start: this is for the next start, the job that "
            "hangs does not see it.",
        .flags = {{.name = "--category",
                   .value = "CATEGORY",
                   .help = "what went wrong",
                   .target = &x_category,
                   .choices = {}}},
        .examples = {{"unhang env incident --category transport_stall --engine vllm",
                      "After a stall inside the network."}},
        .exit_notes = {{kExitOk, "printed"}}};
    for (const model::Category category : kCategories)
      command.flags.front().choices.emplace_back(model::name_of(category));
    for (Flag& flag : env_plan_flags(x_flags)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    const auto options = env_plan_options(x_flags);
    if (!options) return complain(streams, options.error());
    for (const model::Category category : kCategories) {
      if (x_category != model::name_of(category)) continue;
      write_env_plan(checks::incident_plan(category, *options), x_flags, streams);
      return kExitOk;
    }
    return complain(
        streams, {base::ErrorCode::kUsage, "say with --category what went wrong (unhang diagnose names it)"});
  }

 private:
  EnvPlanFlags x_flags;
  std::string x_category;
};

}  // namespace

std::unique_ptr<CommandBase> make_env_incident_command() {
  return std::make_unique<EnvIncidentCommand>();
}

}  // namespace unhang::cli
