// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "model/cause.h"

namespace unhang::cli {
namespace {

std::vector<std::string> all_codes() {
  std::vector<std::string> codes;
  for (const model::CauseInfo& cause : model::cause_catalogue()) codes.emplace_back(cause.code);
  return codes;
}

// People also paste the category of a verdict; its causes are what they look for.
std::vector<std::string_view> codes_of_category(std::string_view name) {
  std::vector<std::string_view> codes;
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    const auto& in = cause.categories;
    const bool listed =
        std::any_of(in.begin(), in.end(), [&](model::Category c) { return model::name_of(c) == name; });
    if (listed) codes.push_back(cause.code);
  }
  return codes;
}

std::string complaint(std::string_view code) {
  if (const auto codes = codes_of_category(code); !codes.empty()) {
    return fmt::format("'{}' is a category; its causes are {}", code, fmt::join(codes, ", "));
  }
  const auto near = report::similar_causes(code);
  const std::string unknown = fmt::format("there is no cause '{}'", base::printable(code));
  if (near.empty()) return unknown + "; 'unhang explain' lists them all";
  return fmt::format("{}; did you mean {}?", unknown, fmt::join(near, " or "));
}

class ExplainCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "explain",
        .group = "Learn and practise",
        .summary = "what a cause means, how to confirm it, what to do",
        .description =
            "Every verdict names a cause by its code. This prints what the code stands for, how it "
            "shows in the evidence, the check that confirms it, and the way out. Without a code: all "
            "codes with their titles.",
        .positional = {.placeholder = "CODE…",
                       .help = "codes of causes, as in a verdict",
                       .choices = all_codes(),
                       .other_allowed = true},
        .flags = {{.name = "--all", .help = "explain every cause", .target = &x_all},
                  {.name = "--markdown",
                   .help = "the whole catalogue as a Markdown page",
                   .target = &x_markdown}},
        .examples = {{"unhang explain rank_not_entered", "What the verdict 'rank_not_entered' stands for."},
                     {"unhang explain", "Look up a code."}},
        .exit_notes = {{kExitUsage, "there is no such code"}}};
  }

  int run(const std::vector<std::string>& arguments, Streams& streams) override {
    if (static_cast<int>(!arguments.empty()) + static_cast<int>(x_all) + static_cast<int>(x_markdown) > 1) {
      streams.err.write("unhang explain: give a CODE, --all or --markdown, one of them\n");
      return kExitUsage;
    }
    if (x_markdown) {
      streams.out.write(report::render_causes_markdown());
    } else if (x_all) {
      return explain(all_codes(), streams);
    } else if (arguments.empty()) {
      streams.out.write(report::render_cause_list(streams.width, streams.color));
    } else {
      return explain(arguments, streams);
    }
    return kExitOk;
  }

 private:
  // Those that exist are explained, whatever the others are.
  static int explain(const std::vector<std::string>& codes, Streams& streams) {
    int result = kExitOk;
    bool first = true;
    for (const std::string& code : codes) {
      const model::CauseInfo* cause = model::find_cause(code);
      if (cause == nullptr) {
        streams.err.write(fmt::format("unhang explain: {}\n", complaint(code)));
        result = kExitUsage;
        continue;
      }
      streams.out.write((first ? "" : "\n") + report::render_cause(*cause, streams.width, streams.color));
      first = false;
    }
    return result;
  }

  bool x_all = false;
  bool x_markdown = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace unhang::cli
