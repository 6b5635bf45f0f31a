// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <fmt/format.h>

#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "detect/iterations.h"
#include "detect/joined_rows.h"
#include "detect/resolve.h"
#include "os/write_file.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

class TimelineCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "timeline",
        .group = "Look at evidence",
        .summary = "write a trace that ui.perfetto.dev opens",
        .description =
            "Writes the operations of all ranks as a trace (Trace Event Format, JSON) for ui.perfetto.dev or "
            "chrome://tracing: a process for each host, a thread for each rank, a slice for each operation, "
            "from the call to when its end was noticed, and arrows that join the ranks of a collective in "
            "the order in which they came. The culprit is marked in its thread's name and at the place.\n\n"
            "Unfinished operations run to the end of the trace. Times are those of each host's own clock. "
            "With more than 200,000 calls only what is wrong or unfinished is joined by arrows.",
        .positional = evidence_paths(),
        .flags = {{.name = "--output",
                   .short_name = "-o",
                   .value = "FILE",
                   .help = "the trace; - is standard output",
                   .target = &x_output,
                   .is_path = true}},
        .examples = {
            {"unhang timeline -o trace.json /tmp/nccl_dumps", "Then open it in ui.perfetto.dev."},
            {"unhang timeline -o - dumps | gzip >trace.json.gz", "Packed; Perfetto opens that too."}}};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (x_output.empty()) {
      return complain(streams, {base::ErrorCode::kUsage, "timeline needs -o FILE, where to write the trace"});
    }
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    x_load.complaints = &streams.err;
    x_load.needs_dumps = true;
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    model::Verdict verdict = detect::diagnose(*joined);
    anonymize_as_asked(x_anonymize, *joined, &verdict);
    report::TimelineCounts counts;
    const auto written = os::write_file_in_pieces(
        x_output, [&](const os::WriteBytes& write) { counts = write_trace(*joined, verdict, write); });
    if (!written) return complain(streams, written.error());
    if (x_output != "-") streams.out.write(summary(counts));
    return kExitOk;
  }

 private:
  static report::TimelineCounts write_trace(const model::Case& joined, const model::Verdict& verdict,
                                            const os::WriteBytes& write) {
    const model::JoinedRows arrows = detect::joined_rows(joined);
    std::vector<std::optional<detect::Period>> periods;
    for (model::GroupIndex group = 0; group < joined.groups.size(); ++group) {
      periods.push_back(detect::find_period(joined, group));
    }
    const auto step = [&](model::GroupIndex group, std::int64_t ordinal) {
      return periods[group] ? periods[group]->iteration(ordinal) : std::nullopt;
    };
    return report::write_timeline({joined, verdict, arrows, step}, write);
  }

  std::string summary(const report::TimelineCounts& counts) const {
    std::string out = fmt::format("{}: {} of {}, {}\n", report::one_line(x_output),
                                  report::counted(counts.slices, "operation", "operations"),
                                  report::counted(counts.ranks, "rank", "ranks"),
                                  report::counted(counts.arrows, "arrow", "arrows"));
    if (counts.without_time > 0) {
      out += report::counted(counts.without_time, "operation has", "operations have") +
             " no recorded time and are left out\n";
    }
    return out + "Open it in https://ui.perfetto.dev (Open trace file); nothing leaves your browser.\n";
  }

  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  std::string x_output;
};

}  // namespace

std::unique_ptr<CommandBase> make_timeline_command() {
  return std::make_unique<TimelineCommand>();
}

}  // namespace unhang::cli
