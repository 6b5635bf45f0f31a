// SPDX-License-Identifier: Apache-2.0
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "report/stack_looks.h"
#include "report/stack_tree.h"

namespace unhang::cli {
namespace {

class StacksCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "stacks",
        .group = "Look at evidence",
        .summary = "merge the stacks of many ranks into one tree",
        .description =
            "Shows where the ranks of a job stand: their stacks laid over each other, so that what they have "
            "in common stands once and those that are elsewhere stand out, with what known functions mean "
            "(data loader, checkpoint, weights, compilation, NCCL's initialisation, a collective).\n\n"
            "Stacks are read from what py-spy dump (text or --json), gdb, pstack, eu-stack and faulthandler "
            "print, from logs with such dumps in them, and from bundles. A rank that nobody looked at is "
            "shown "
            "where it made its last unfinished call, if it left a Flight Recorder dump.\n\n"
            "Of each process one thread is shown: the main one, or another that does the work.",
        .positional = evidence_paths(),
        .flags = {{.name = "--all-threads",
                   .short_name = "-a",
                   .help = "all threads, those of one name together",
                   .target = &x_all_threads},
                  {.name = "--verbose",
                   .short_name = "-v",
                   .help = "every frame",
                   .target = &x_verbose,
                   .group = "Output"},
                  {.name = "--json",
                   .help = "as JSON (schema unhang.stacks/1)",
                   .target = &x_json,
                   .group = "Output"},
                  {.name = "--folded",
                   .help = "a line for each path and its count, for flamegraph.pl",
                   .target = &x_folded,
                   .group = "Output"}},
        .examples = {{"unhang stacks stacks/", "The files of all ranks."},
                     {"py-spy dump --pid 4242 | unhang stacks -", "One process, with its frames explained."},
                     {"unhang stacks --folded stacks/ | flamegraph.pl >stacks.svg", "As a flame graph."}},
        .exit_notes = {{kExitOk, "stacks were shown; they are not judged (unhang diagnose does)"}}};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    if (x_json && x_folded)
      return complain(streams,
                      {base::ErrorCode::kUsage, "--json and --folded are two forms of output: give one"});
    x_load.complaints = &streams.err;
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    anonymize_as_asked(x_anonymize, *joined, nullptr);
    const report::StackLooks looks = report::stack_looks(*joined, x_all_threads);
    if (looks.looks.empty()) {
      return complain(
          streams, {base::ErrorCode::kData,
                    "no stacks are among the inputs. Give what `py-spy dump --pid PID` or `gdb -p PID -batch "
                    "-ex 'thread apply all bt'` printed for each rank, or a bundle of `unhang capture`."});
    }
    if (x_json) {
      streams.out.write(report::stacks_json(looks));
    } else if (x_folded) {
      streams.out.write(report::folded_stacks(looks));
    } else {
      streams.out.write(report::render_stacks(looks, {.width = streams.width,
                                                      .color = streams.color,
                                                      .every_frame = x_verbose,
                                                      .all_threads = x_all_threads}));
    }
    return kExitOk;
  }

 private:
  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  bool x_all_threads = false;
  bool x_verbose = false;
  bool x_json = false;
  bool x_folded = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_stacks_command() {
  return std::make_unique<StacksCommand>();
}

}  // namespace unhang::cli
