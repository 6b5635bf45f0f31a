// SPDX-License-Identifier: Apache-2.0
#include "report/env_plan.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

const model::EnvPlan kPlan{"Some variables.",
                           {"made for X"},
                           {{"A", "[%F_%T]_", "Times.", false}, {"B", "it's $x", "A trial.", true}}};

TEST(EnvPlan, AShellFile) {
  EXPECT_EQ(render_env_plan(kPlan, EnvPlanForm::kExport, 80),
            "# Some variables.\n# made for X\n\n# Times.\nexport A='[%F_%T]_'\n\n"
            "# Only if needed: A trial.\n# export B='it'\"'\"'s $x'\n");
}

TEST(EnvPlan, AContainer) {
  EXPECT_EQ(render_env_plan(kPlan, EnvPlanForm::kKubernetes, 80),
            "# Some variables.\n# made for X\nenv:\n# Times.\n- name: A\n  value: \"[%F_%T]_\"\n"
            "# Only if needed: A trial.\n# - name: B\n#   value: \"it's $$x\"\n");
}

TEST(EnvPlan, AUnit) {
  const std::string text = render_env_plan(kPlan, EnvPlanForm::kSystemd, 80);
  EXPECT_NE(text.find("\n[Service]\n"), std::string::npos);
  EXPECT_NE(text.find("\nEnvironment=\"A=[%%F_%%T]_\"\n"), std::string::npos);
  EXPECT_NE(text.find("\n# Environment=\"B=it's $x\"\n"), std::string::npos);
}

TEST(EnvPlan, ABatchScript) {
  const std::string text = render_env_plan(kPlan, EnvPlanForm::kSlurm, 80);
  EXPECT_NE(text.find("\nexport A='[%F_%T]_'\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\nexport SLURM_EXPORT_ENV=ALL\n"));
}

TEST(EnvPlan, Json) {
  const auto json = nlohmann::json::parse(render_env_plan(kPlan, EnvPlanForm::kJson, 80));
  EXPECT_EQ(json["schema"], "unhang.env_plan/1");
  EXPECT_EQ(json["settings"][0]["value"], "[%F_%T]_");
  EXPECT_EQ(json["settings"][1]["optional"], true);
}

TEST(EnvPlan, CommentsAreWrappedLinesThatSetAreNot) {
  const model::EnvPlan plan{
      std::string(30, 'a') + " " + std::string(30, 'b'), {}, {{"A", std::string(90, 'v'), "x", false}}};
  const std::string text = render_env_plan(plan, EnvPlanForm::kExport, 40);
  EXPECT_EQ(text.find("aa bb"), std::string::npos);
  EXPECT_NE(text.find("export A=" + std::string(90, 'v') + "\n"), std::string::npos);
}

}  // namespace
}  // namespace unhang::report
