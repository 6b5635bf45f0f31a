// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "detect/slow_report.h"
#include "report/slow_screen.h"

namespace unhang::cli {
namespace {

constexpr std::int64_t kDefaultTop = 10;

// As setlocale(3) would decide: the first that is set and not empty.
bool terminal_shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text(value);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

int exit_code_of(model::SlowOutcome outcome) {
  switch (outcome) {
    case model::SlowOutcome::kNothingSlow:
      return kExitOk;
    case model::SlowOutcome::kSlow:
      return kExitSlow;
    case model::SlowOutcome::kStopped:
      return kExitStopped;
    case model::SlowOutcome::kUnknown:
      return kExitUnknown;
  }
  return kExitUnknown;
}

class SlowCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "slow",
        .group = "Look at evidence",
        .summary = "show who is slow in a job that advances",
        .description =
            "Judges the times in the evidence: which rank comes last to the collectives and what that costs "
            "the others, how long the transfers themselves take and since when they take longer, how the "
            "steps went, which pairs of ranks are slow, how many tokens a second the engines make.\n\n"
            "Of a collective that all must enter, the member with the shortest duration came last, and its "
            "duration is the transfer: so a late rank and a slow network are told apart, and no clock is "
            "compared. Durations are recorded with TORCH_NCCL_ENABLE_TIMING=1; without them the times of the "
            "calls tell large lags.\n\n"
            "What differs by little, or as much by chance, is not claimed; what was slow for a while, or a "
            "few times, is shown and is no trouble.",
        .positional = evidence_paths(),
        .flags = {{.name = "--top",
                   .value = "N",
                   .help = "show at most N rows of each table, 0: all (the screen shows 10, JSON all)",
                   .target = &x_top,
                   .minimum = 0,
                   .group = "Output"},
                  {.name = "--json",
                   .help = "as JSON (schema unhang.slow/1)",
                   .target = &x_json,
                   .group = "Output"}},
        .examples = {{"unhang slow /tmp/nccl_dumps", "The dumps of a job that runs, and too slowly."},
                     {"unhang slow --json dumps | jq '.findings[] | select(.slow)'", "For a script."}},
        .exit_notes = {{kExitOk, "nothing slow is seen"},
                       {kExitSlow, "something is slow"},
                       {kExitStopped, "operations are open that nothing finishes: it stands"},
                       {kExitUnknown, "too little was timed to tell"}},
        .gives_verdict = true};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    x_load.complaints = &streams.err;
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    // Before the judgement, whose sentences name what they found: names do not change it.
    anonymize_as_asked(x_anonymize, *joined, nullptr);
    const model::SlowReport report = detect::slow_report(detect::analyse(*joined));
    if (x_json) {
      report::slow_json(*joined, report, static_cast<std::size_t>(x_top.value_or(0)),
                        [&](std::string_view bytes) { streams.out.write(bytes); });
    } else {
      streams.out.write(report::render_slow(*joined, report,
                                            {.width = streams.width,
                                             .color = streams.color,
                                             .unicode = terminal_shows_utf8(),
                                             .top = static_cast<std::size_t>(x_top.value_or(kDefaultTop))}));
    }
    return exit_code_of(report.outcome);
  }

 private:
  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  std::optional<std::int64_t> x_top;
  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_slow_command() {
  return std::make_unique<SlowCommand>();
}

}  // namespace unhang::cli
