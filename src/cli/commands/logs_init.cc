// SPDX-License-Identifier: Apache-2.0
#include "cli/joined_logs_command.h"
#include "detect/communicator_lives.h"
#include "report/log_init.h"

namespace unhang::cli {
namespace {

class LogsInitCommand final : public JoinedLogsCommand {
 public:
  Command describe() override {
    return with_frame(
        {.name = "logs init",
         .summary = "show how communicators came to be, and who is missing",
         .description =
             "Puts the NCCL lines of all files together, communicator by communicator: which of its ranks "
             "appeared, who never did, how far each came, where it stopped and since when.\n\n"
             "A rank of which there is no line may be hung, or its log may not be among the inputs: give the "
             "logs of all ranks. Times whose zone is not stated end in '~' (--tz gives it). NCCL prints "
             "these lines with NCCL_DEBUG=INFO.",
         .examples = {{"unhang logs init logs/", "All communicators of a job."}}},
        "unhang.logs_init/1");
  }

 private:
  std::string show(const model::Case& joined, bool json, int width) const override {
    const auto sets = detect::group_communicators(joined.logs);
    return json ? report::log_init_json(sets, joined.logs)
                : report::render_log_init(sets, joined.logs, width);
  }
};

}  // namespace

std::unique_ptr<CommandBase> make_logs_init_command() {
  return std::make_unique<LogsInitCommand>();
}

}  // namespace unhang::cli
