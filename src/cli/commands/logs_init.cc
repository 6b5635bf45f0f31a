// SPDX-License-Identifier: Apache-2.0
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "detect/communicator_lives.h"
#include "report/log_init.h"

namespace unhang::cli {
namespace {

class LogsInitCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "logs init",
        .group = "Look at evidence",
        .summary = "show how communicators came to be, and who is missing",
        .description =
            "Puts the NCCL lines of all files together, communicator by communicator: which of its ranks "
            "appeared, who never did, how far each came, where it stopped and since when.\n\n"
            "A rank of which there is no line may be hung, or its log may not be among the inputs: give the "
            "logs of all ranks. Times whose zone is not stated end in '~' (--tz gives it). NCCL prints these "
            "lines with NCCL_DEBUG=INFO.",
        .positional = evidence_paths(),
        .flags = {{.name = "--json",
                   .help = "as JSON (schema unhang.logs_init/1)",
                   .target = &x_json,
                   .group = "Output"}},
        .examples = {{"unhang logs init logs/", "All communicators of a job."}},
        .exit_notes = {{kExitOk, "the logs could be read, whatever they tell"}}};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    x_load.complaints = &streams.err;
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    anonymize_as_asked(x_anonymize, *joined, nullptr);
    const auto sets = detect::group_communicators(joined->logs);
    streams.out.write(x_json ? report::log_init_json(sets, joined->logs)
                             : report::render_log_init(sets, joined->logs, streams.width));
    return kExitOk;
  }

 private:
  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_logs_init_command() {
  return std::make_unique<LogsInitCommand>();
}

}  // namespace unhang::cli
