// SPDX-License-Identifier: Apache-2.0
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/history_folder.h"
#include "cli/load_case.h"
#include "detect/recurrence.h"
#include "detect/resolve.h"
#include "os/write_file.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/rank_table.h"
#include "report/terminal.h"

namespace unhang::cli {
namespace {

class DiagnoseCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "diagnose",
        .group = "Look at evidence",
        .summary = "say which rank broke the job, and why",
        .description =
            "Reads all evidence below the paths, joins it and gives one verdict: what kind of trouble, which "
            "ranks, at which operation, how sure, what was not seen and what to do next. Evidence: Flight "
            "Recorder "
            "dumps, answers of NCCL's RAS service, engine metrics, bundles of 'unhang capture'; files are "
            "recognised "
            "by their content.\n\n"
            "Ranks that only wait are victims and never named as culprits. The same evidence gives the same "
            "answer, byte for byte, whatever the order of the files.",
        .positional = evidence_paths(),
        .flags =
            {{.name = "--verbose",
              .short_name = "-v",
              .help = "findings, alternatives, stacks and coverage too (-vv: all of them)",
              .target = &x_verbosity},
             {.name = "--stacks",
              .help = "whole stacks instead of the first line of user code",
              .target = &x_full_stacks},
             {.name = "--history",
              .value = "DIR",
              .help = "folder with earlier verdicts (--json): who was named before?",
              .target = &x_history,
              .is_path = true},
             {.name = "--show",
              .value = "WHAT",
              .help = "'ranks': who is who, and which source says so, instead of the verdict",
              .target = &x_show},
             {.name = "--md", .help = "as Markdown, for a ticket", .target = &x_markdown, .group = "Output"},
             {.name = "--json",
              .help = "the verdict as JSON (schema unhang.verdict/1)",
              .target = &x_json,
              .group = "Output"},
             {.name = "--output",
              .short_name = "-o",
              .value = "FILE",
              .help = "write there instead of standard output",
              .target = &x_output,
              .is_path = true,
              .group = "Output"}},
        .examples = {{"unhang diagnose /tmp/nccl_dumps", "A folder with the dumps of all ranks."},
                     {"unhang diagnose ras_1.json ras_2.json", "Two answers of RAS, some seconds apart."},
                     {"unhang diagnose -v dumps.tar.gz", "An archive, with findings and stacks."},
                     {"unhang diagnose --json dumps | jq .verdict", "For a script."},
                     {"unhang diagnose --history verdicts dumps", "Whether it is the same machine again."}},
        .gives_verdict = true};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (x_json && x_markdown)
      return complain(streams, {base::ErrorCode::kUsage, "--json and --md exclude each other: give one"});
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    x_load.complaints = &streams.err;
    if (!x_show.empty() && x_show != "ranks")
      return complain(streams, {base::ErrorCode::kUsage, "--show " + x_show + ": only 'ranks' can be shown"});
    if (!x_show.empty() && x_markdown)
      return complain(streams, {base::ErrorCode::kUsage, "--show and --md exclude each other: give one"});
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    if (!x_show.empty()) return show_ranks(*joined, streams);
    model::Verdict verdict = detect::diagnose(*joined);
    if (!x_history.empty()) {
      const auto history = read_history(x_history);
      if (!history) return complain(streams, history.error());
      if (!history->skipped.empty()) streams.err.write("unhang: " + skipped_words(*history) + "\n");
      detect::compare_with_history(history->verdicts, verdict);
    }
    anonymize_as_asked(x_anonymize, *joined, &verdict);
    return put(render(verdict, *joined, streams), model::exit_code(verdict), streams);
  }

 private:
  int show_ranks(model::Case& joined, Streams& streams) const {
    anonymize_as_asked(x_anonymize, joined, nullptr);
    return put(x_json ? report::rank_table_json(joined)
                      : report::render_rank_table(joined, {.width = streams.width,
                                                           .color = streams.color && x_output.empty(),
                                                           .verbosity = x_verbosity}),
               kExitOk, streams);
  }

  int put(const std::string& text, int code, Streams& streams) const {
    if (x_output.empty()) {
      streams.out.write(text);
    } else if (const auto written = os::write_file(x_output, text); !written) {
      return complain(streams, written.error());
    }
    return code;
  }

  std::string render(const model::Verdict& verdict, const model::Case& joined, const Streams& streams) const {
    if (x_markdown)
      return report::render_markdown(verdict, {.full_stacks = x_full_stacks, .evidence = &joined});
    if (x_json) return report::render_json(verdict, joined.inputs, joined.set_aside);
    return report::render_terminal(verdict, {.width = streams.width,
                                             .color = streams.color && x_output.empty(),
                                             .verbosity = x_verbosity,
                                             .full_stacks = x_full_stacks,
                                             .evidence = &joined});
  }

  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  int x_verbosity = 0;
  bool x_full_stacks = false;
  bool x_json = false;
  bool x_markdown = false;
  std::string x_output;
  std::string x_show;
  std::string x_history;
};

}  // namespace

std::unique_ptr<CommandBase> make_diagnose_command() {
  return std::make_unique<DiagnoseCommand>();
}

}  // namespace unhang::cli
