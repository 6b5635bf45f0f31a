// SPDX-License-Identifier: Apache-2.0
#include "os/nvml.h"

#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "collect/nvml_table.h"

namespace unhang::cli {
namespace {

// A capture runs it as a process of its own: the driver may hang, and then only this process with it.
class NvmlCommand final : public CommandBase {
 public:
  Command describe() override {
    return {.name = "nvml",
            .group = "Look at a live job",
            .summary = "the GPUs as NVML tells of them, without nvidia-smi",
            .description =
                "Prints a row for each GPU and one for each process on it, in the form of "
                "`nvidia-smi --query-gpu`. `unhang capture` uses it where nvidia-smi is not "
                "installed, as in most containers.",
            .flags = {{.name = "--library",
                       .value = "FILE",
                       .help = "the library to load",
                       .target = &x_library,
                       .is_path = true}},
            .examples = {{"unhang nvml", "A row for each GPU."}},
            .exit_notes = {{kExitUnavailable, "there is no NVML, or it does not start"}},
            .hidden = true};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    const auto report = os::read_nvml(x_library);
    if (!report) {
      // On standard output as well: it is evidence ("Driver/library version mismatch").
      if (report.error().code == base::ErrorCode::kUnavailable)
        streams.out.write(report.error().message + "\n");
      complain(streams, report.error());
      return kExitUnavailable;
    }
    streams.out.write(collect::nvml_table(*report));
    return kExitOk;
  }

 private:
  std::string x_library = "libnvidia-ml.so.1";
};

}  // namespace

std::unique_ptr<CommandBase> make_nvml_command() {
  return std::make_unique<NvmlCommand>();
}

}  // namespace unhang::cli
