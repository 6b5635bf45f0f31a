// SPDX-License-Identifier: Apache-2.0
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "report/log_warnings.h"

namespace unhang::cli {
namespace {

class LogsWarningsCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "logs warnings",
        .group = "Look at evidence",
        .summary = "show what logs warn of, each thing once, causes first",
        .description =
            "Warnings and errors of NCCL, PyTorch, launchers, engines and the kernel: what, how often, since "
            "when, on which host. Equal ones of the processes of one host are one row. '!' marks what is the "
            "cause of something, '?' what may be a cause or a consequence. The watchdog's time-outs are put "
            "together by group and operation.\n\n"
            "This is what the lines say; which of them explains the job is what unhang diagnose decides. A "
            "time that ends in Z is UTC; one that does not is as the log states it (--tz gives its zone).",
        .positional = evidence_paths(),
        .flags = {{.name = "--all", .help = "also consequences and notes, row by row", .target = &x_all},
                  {.name = "--json",
                   .help = "as JSON (schema unhang.log_warnings/1)",
                   .target = &x_json,
                   .group = "Output"}},
        .examples = {{"unhang logs warnings logs/", "What all files of a job warn of."}},
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
    const report::LogWarnings found = report::gather_log_warnings(*joined);
    streams.out.write(x_json ? report::log_warnings_json(found, *joined, x_all)
                             : report::render_log_warnings(found, *joined, x_all, streams.width));
    return kExitOk;
  }

 private:
  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  bool x_all = false, x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_logs_warnings_command() {
  return std::make_unique<LogsWarningsCommand>();
}

}  // namespace unhang::cli
