// SPDX-License-Identifier: Apache-2.0
#include "cli/env_plan_flags.h"

#include "base/printable.h"
#include "report/env_plan.h"

namespace unhang::cli {

std::vector<Flag> env_plan_flags(EnvPlanFlags& flags) {
  std::vector<Flag> list = software_flags(flags.software);
  list.push_back({.name = "--directory",
                  .value = "FOLDER",
                  .help = "where logs and dumps go, as the job sees it",
                  .target = &flags.folder,
                  .is_path = true});
  list.push_back({.name = "--format",
                  .value = "FORM",
                  .help = "a shell file, the env list of a container, a drop-in of a unit, lines of a batch "
                          "script, or JSON (schema unhang.env_plan/1)",
                  .target = &flags.format,
                  .choices = {"export", "kubernetes", "systemd", "slurm", "json"},
                  .group = "Output"});
  return list;
}

base::Result<checks::EnvPlanOptions> env_plan_options(const EnvPlanFlags& flags) {
  const auto software = software_of(flags.software);
  if (!software) return base::fail(software.error());
  checks::EnvPlanOptions options{.software = *software, .folder = flags.folder};
  while (options.folder.size() > 1 && options.folder.back() == '/') options.folder.pop_back();
  // PyTorch and NCCL expand nothing, and % would begin a pattern of NCCL.
  if (options.folder.empty() || options.folder.front() != '/' ||
      options.folder.find('%') != std::string::npos || base::printable(options.folder) != options.folder) {
    return base::fail(base::ErrorCode::kUsage,
                      "flag --directory: '" + base::printable(flags.folder) +
                          "' is no absolute path without %: it must mean the same for every process");
  }
  if (options.folder == "/") options.folder.clear();
  return options;
}

void write_env_plan(const model::EnvPlan& plan, const EnvPlanFlags& flags, Streams& streams) {
  const auto form = report::parse_env_plan_form(flags.format).value_or(report::EnvPlanForm::kExport);
  streams.out.write(report::render_env_plan(plan, form, streams.width));
}

}  // namespace unhang::cli
