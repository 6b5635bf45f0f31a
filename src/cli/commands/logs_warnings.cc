// SPDX-License-Identifier: Apache-2.0
#include "cli/joined_logs_command.h"
#include "report/log_warnings.h"

namespace unhang::cli {
namespace {

class LogsWarningsCommand final : public JoinedLogsCommand {
 public:
  Command describe() override {
    return with_frame(
        {.name = "logs warnings",
         .summary = "show what logs warn of, each thing once, causes first",
         .description =
             "Warnings and errors of NCCL, PyTorch, launchers, engines and the kernel: what, how often, "
             "since when, on which host. Equal ones of the processes of one host are one row. '!' marks what "
             "is the cause of something, '?' what may be a cause or a consequence. The watchdog's time-outs "
             "are put together by group and operation.\n\n"
             "This is what the lines say; which of them explains the job is what unhang diagnose decides. A "
             "time that ends in Z is UTC; one that does not is as the log states it (--tz gives its zone).",
         .flags = {{.name = "--all", .help = "also consequences and notes, row by row", .target = &x_all}},
         .examples = {{"unhang logs warnings logs/", "What all files of a job warn of."}}},
        "unhang.log_warnings/1");
  }

 private:
  std::string show(const model::Case& joined, bool json, int width) const override {
    const report::LogWarnings found = report::gather_log_warnings(joined);
    return json ? report::log_warnings_json(found, joined, x_all)
                : report::render_log_warnings(found, joined, x_all, width);
  }

  bool x_all = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_logs_warnings_command() {
  return std::make_unique<LogsWarningsCommand>();
}

}  // namespace unhang::cli
