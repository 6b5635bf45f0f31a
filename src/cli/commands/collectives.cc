// SPDX-License-Identifier: Apache-2.0
#include "report/collectives.h"

#include <fmt/format.h>

#include "base/rank_set.h"
#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/load_case.h"
#include "detect/aligned_rows.h"
#include "detect/resolve.h"
#include "report/collectives_json.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

constexpr std::int64_t kDefaultLimit = 200;

class CollectivesCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "collectives",
        .group = "Look at evidence",
        .summary = "show who did what, operation by operation",
        .description =
            "Lays the dumps of all ranks side by side: one row for each collective of a group and each "
            "point-to-point transfer, one column for each rank, or for each class of ranks that are alike "
            "where there are too many. Each call is compared with the majority of its row.\n\n"
            "Wrong is a row in which calls differ, or the oldest one of its group that some entered and "
            "did not finish. What only follows from such a row, or is a state not yet up to date, is to "
            "note. 'step' is the iteration of the program, where the calls repeat.",
        .positional = evidence_paths(),
        .flags = {{.name = "--group",
                   .short_name = "-g",
                   .value = "GROUP",
                   .help = "only this group, by name or description (may be given again)",
                   .target = &x_groups},
                  {.name = "--rank",
                   .short_name = "-r",
                   .value = "RANKS",
                   .help = "only rows and columns of these ranks, as in 0-3,7",
                   .target = &x_ranks},
                  {.name = "--op",
                   .value = "NAME",
                   .help = "only this operation, as in all_reduce, send or _all_gather_base",
                   .target = &x_filter.operation},
                  {.name = "--from",
                   .value = "N",
                   .help = "from this number in the group on",
                   .target = &x_filter.from},
                  {.name = "--to", .value = "N", .help = "up to this number", .target = &x_filter.to},
                  {.name = "--wrong",
                   .help = "only what is wrong or to note",
                   .target = &x_filter.only_wrong},
                  {.name = "--limit",
                   .value = "N",
                   .help = "show at most N rows, 0: all (the screen shows 200, JSON all)",
                   .target = &x_limit,
                   .minimum = 0,
                   .group = "Output"},
                  {.name = "--json",
                   .help = "rows as JSON (schema unhang.collectives/1)",
                   .target = &x_json,
                   .group = "Output"}},
        .examples = {{"unhang collectives --wrong /tmp/nccl_dumps", "Only the rows that are wrong."},
                     {"unhang collectives -g tp -r 0-7 --from 2000 dumps", "The end of one group."},
                     {"unhang collectives --json dumps | jq '.rows[] | select(.wrong)'", "For a script."}},
        .exit_notes = {{kExitOk, "nothing is wrong in the rows that were asked for"},
                       {kExitStopped, "some of them are wrong (shown or not)"}},
        .gives_verdict = true};
    for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
    for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& paths, Streams& streams) override {
    if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
    x_load.complaints = &streams.err;
    x_load.needs_dumps = true;
    auto joined = load_case(paths, x_load);
    if (!joined) return complain(streams, joined.error());
    if (const auto selected = select(*joined); !selected) return complain(streams, selected.error());
    model::Verdict verdict;
    if (!x_json) verdict = detect::diagnose(*joined);
    anonymize_as_asked(x_anonymize, *joined, &verdict);
    const report::RowCounts total =
        x_json ? write_json(*joined, streams) : write_table(*joined, verdict.headline, streams);
    return total.wrong > 0 ? kExitStopped : kExitOk;
  }

 private:
  base::Result<> select(const model::Case& joined) {
    for (const std::string& text : x_groups) {
      const auto found = detect::find_groups(joined, text);
      if (found.empty()) {
        return base::fail(base::ErrorCode::kUsage, fmt::format("there is no group '{}' here; there are: {}",
                                                               report::one_line(text), groups_text(joined)));
      }
      x_filter.groups.insert(x_filter.groups.end(), found.begin(), found.end());
    }
    if (x_ranks.empty()) return {};
    const auto ranks = base::parse_ranks(x_ranks);
    if (!ranks || ranks->empty()) {
      return base::fail(base::ErrorCode::kUsage,
                        fmt::format("--rank takes ranks such as 0-3,7, not '{}'", report::one_line(x_ranks)));
    }
    for (const std::int32_t rank : *ranks) {
      if (const auto index = joined.find_rank(rank)) x_filter.ranks.push_back(*index);
    }
    if (!x_filter.ranks.empty()) return {};
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("none of the ranks {} is in this evidence", base::fold_ranks(*ranks)));
  }

  static std::string groups_text(const model::Case& joined) {
    std::vector<std::string> labels;
    for (model::GroupIndex group = 0; group < joined.groups.size(); ++group) {
      labels.push_back(report::one_line(joined.group_label(group)));
    }
    return report::join_within(labels, ", ", 400);
  }

  report::RowCounts write_table(const model::Case& joined, const std::string& headline, Streams& streams) {
    report::RowShortlist rows(static_cast<std::size_t>(x_limit.value_or(kDefaultLimit)));
    detect::for_each_row(joined, x_filter, [&](const model::AlignedRow& row) { rows.add(row); });
    const report::RowCounts total = rows.total();
    streams.out.write(report::render_collectives(
        joined, rows, {.width = streams.width, .color = streams.color, .headline = headline}));
    return total;
  }

  report::RowCounts write_json(const model::Case& joined, Streams& streams) {
    report::CollectivesJson json(joined, [&](std::string_view bytes) { streams.out.write(bytes); });
    report::RowCounts total;
    if (x_limit.value_or(0) == 0) {
      detect::for_each_row(joined, x_filter, [&](const model::AlignedRow& row) {
        total.add(row);
        json.add(row);
      });
    } else {
      report::RowShortlist rows(static_cast<std::size_t>(*x_limit));
      detect::for_each_row(joined, x_filter, [&](const model::AlignedRow& row) { rows.add(row); });
      total = rows.total();
      for (const auto& kept : rows.take()) json.add(kept.row);
    }
    json.finish(total);
    return total;
  }

  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  detect::RowFilter x_filter;
  std::vector<std::string> x_groups;
  std::string x_ranks;
  std::optional<std::int64_t> x_limit;
  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_collectives_command() {
  return std::make_unique<CollectivesCommand>();
}

}  // namespace unhang::cli
