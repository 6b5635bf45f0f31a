// SPDX-License-Identifier: Apache-2.0
#include "base/env_line.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(EnvLine, BareWordsStayBare) {
  EXPECT_EQ(env_line(EnvForm::kExport, "A", "/var/log/nccl.%h.%p.log"), "export A=/var/log/nccl.%h.%p.log");
  EXPECT_EQ(env_line(EnvForm::kExport, "A", "^=mlx5_0,x"), "export A=^=mlx5_0,x");
}

TEST(EnvLine, AShellGetsTheValueBack) {
  EXPECT_EQ(env_line(EnvForm::kExport, "A", "[%F %T] "), "export A='[%F %T] '");
  EXPECT_EQ(env_line(EnvForm::kExport, "A", "it's $HOME"), "export A='it'\"'\"'s $HOME'");
  EXPECT_EQ(env_line(EnvForm::kExport, "A", ""), "export A=''");
  EXPECT_EQ(env_line(EnvForm::kExport, "A", "~/x"), "export A='~/x'");
}

TEST(EnvLine, SystemdDoublesPercentAndQuotes) {
  EXPECT_EQ(env_line(EnvForm::kSystemd, "A", "n.%h.log"), "Environment=\"A=n.%%h.log\"");
  EXPECT_EQ(env_line(EnvForm::kSystemd, "A", "a \"b\" \\"), "Environment=\"A=a \\\"b\\\" \\\\\"");
}

TEST(EnvLine, KubernetesQuotesEvenNumbersAndDoublesDollars) {
  EXPECT_EQ(env_line(EnvForm::kKubernetes, "A", "1"), "- name: A\n  value: \"1\"");
  EXPECT_EQ(env_line(EnvForm::kKubernetes, "A", "$(POD)/x"), "- name: A\n  value: \"$$(POD)/x\"");
}

TEST(EnvLine, ComposeQuotesEvenNumbersAndDoublesDollars) {
  EXPECT_EQ(env_line(EnvForm::kCompose, "A", "1"), "A: \"1\"");
  EXPECT_EQ(env_line(EnvForm::kCompose, "A", "$POD/x"), "A: \"$$POD/x\"");
  EXPECT_EQ(env_line(EnvForm::kComposeList, "A", "a $b"), "- \"A=a $$b\"");
}

TEST(EnvLine, ConfigMapsReplaceNothing) {
  EXPECT_EQ(env_line(EnvForm::kConfigMap, "A", "$(POD)/x"), "A: \"$(POD)/x\"");
}

TEST(EnvLine, DockerHasNoQuotes) {
  EXPECT_EQ(env_line(EnvForm::kPlain, "A", "a b"), "A=a b");
  EXPECT_EQ(env_line(EnvForm::kPlain, "A", "a\nB=1"), "A=a B=1");
}

TEST(EnvLine, Removal) {
  EXPECT_EQ(env_removal(EnvForm::kExport, "A"), "unset A");
  EXPECT_EQ(env_removal(EnvForm::kSystemd, "A"), "# remove A");
}

}  // namespace
}  // namespace unhang::base
