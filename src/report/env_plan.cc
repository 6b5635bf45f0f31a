// SPDX-License-Identifier: Apache-2.0
#include "report/env_plan.h"

#include "base/env_line.h"
#include "report/json_stream.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::EnvPlan;
using model::EnvSetting;

class Writer {
 public:
  Writer(EnvPlanForm form, int width) : x_form(form), x_width(width) {}

  std::string write(const EnvPlan& plan) {
    comment(plan.title);
    for (const std::string& note : plan.notes) comment(note);
    heading();
    for (const EnvSetting& setting : plan.settings) {
      if (x_form != EnvPlanForm::kKubernetes) x_out += "\n";
      comment((setting.is_optional ? "Only if needed: " : "") + setting.reason);
      lines(base::env_line(line_form(), setting.name, setting.value), setting.is_optional);
    }
    if (x_form == EnvPlanForm::kSlurm) {
      x_out += "\n";
      comment("srun then passes on what is set above, also where the job was submitted with --export=NONE.");
      lines("export SLURM_EXPORT_ENV=ALL", false);
    }
    return std::move(x_out);
  }

 private:
  base::EnvForm line_form() const {
    switch (x_form) {
      case EnvPlanForm::kKubernetes:
        return base::EnvForm::kKubernetes;
      case EnvPlanForm::kSystemd:
        return base::EnvForm::kSystemd;
      default:
        return base::EnvForm::kExport;
    }
  }

  void heading() {
    switch (x_form) {
      case EnvPlanForm::kKubernetes:
        x_out += "env:\n";
        return;
      case EnvPlanForm::kSystemd:
        comment("A drop-in: systemctl edit UNIT, paste, systemctl restart UNIT.");
        x_out += "[Service]\n";
        return;
      case EnvPlanForm::kSlurm:
        comment("Into the batch script, before srun.");
        return;
      default:
        return;
    }
  }

  void comment(const std::string& text) {
    constexpr int kLead = 2;
    for (const std::string& line : wrap(one_line(text), x_width - kLead)) x_out += "# " + line + "\n";
  }

  void lines(std::string_view text, bool commented) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      x_out += (commented ? "# " : "") + std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  EnvPlanForm x_form;
  int x_width;
  std::string x_out;
};

std::string as_json(const EnvPlan& plan) {
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw("{\n\"schema\":\"unhang.env_plan/1\",\n\"title\":").text(plan.title).raw(",\n\"notes\":[");
  bool first = true;
  for (const std::string& note : plan.notes) {
    json.raw(first ? "\n" : ",\n").text(note);
    first = false;
  }
  json.raw("],\n\"settings\":[");
  first = true;
  for (const EnvSetting& setting : plan.settings) {
    json.raw(first ? "\n" : ",\n")
        .raw("{\"name\":")
        .text(setting.name)
        .raw(",\"value\":")
        .text(setting.value);
    json.raw(",\"reason\":").text(setting.reason).raw(",\"optional\":").boolean(setting.is_optional).raw("}");
    first = false;
  }
  json.raw("]\n}\n").flush();
  return out;
}

}  // namespace

std::optional<EnvPlanForm> parse_env_plan_form(std::string_view name) {
  if (name == "export") return EnvPlanForm::kExport;
  if (name == "kubernetes") return EnvPlanForm::kKubernetes;
  if (name == "systemd") return EnvPlanForm::kSystemd;
  if (name == "slurm") return EnvPlanForm::kSlurm;
  if (name == "json") return EnvPlanForm::kJson;
  return std::nullopt;
}

std::string render_env_plan(const EnvPlan& plan, EnvPlanForm form, int width) {
  return form == EnvPlanForm::kJson ? as_json(plan) : Writer(form, width).write(plan);
}

}  // namespace unhang::report
