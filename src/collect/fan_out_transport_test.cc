// SPDX-License-Identifier: Apache-2.0
#include "collect/fan_out_transport.h"

#include <gtest/gtest.h>

#include "collect/member_source.h"

namespace unhang::collect {
namespace {

using Words = std::vector<std::string>;

const OwnProgram kProgram{"/x", "1.2.3", "x86_64", "abc", 7};

Words without_script(Words words) {
  for (std::string& word : words) {
    if (word.size() > 500) word = "SCRIPT";
  }
  return words;
}

TEST(FanOutTransport, EachKindHasItsCommand) {
  EXPECT_EQ(without_script(
                member_command({MemberKind::kPod, "p-0", "vllm", "prod", {}}, kProgram, 9000, {"--no-ras"})),
            (Words{"kubectl", "exec", "-i", "p-0", "--container=vllm", "--namespace=prod", "--", "sh", "-c",
                   "SCRIPT", "unhang", "x86_64", "1.2.3", "abc", "7", "9000", "--no-ras"}));
  EXPECT_EQ(
      without_script(member_command({MemberKind::kSlurmNode, "n1", {}, "42", {}}, kProgram, 9000, {})),
      (Words{"srun", "--jobid=42", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=n1", "--quiet",
             "--kill-on-bad-exit=0", "sh", "-c", "SCRIPT", "unhang", "x86_64", "1.2.3", "abc", "7", "9000"}));
  const Words ssh =
      member_command({MemberKind::kHost, "me@h", {}, {}, {}}, kProgram, 9000, {"--label=a=it's"});
  EXPECT_EQ(without_script(ssh),
            (Words{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=4", "--", "me@h", "SCRIPT"}));
  EXPECT_TRUE(ssh.back().starts_with("'sh' '-c' 'begun="));
  EXPECT_TRUE(ssh.back().ends_with(" '9000' '--label=a=it'\\''s'"));
}

// The login shell of a user may be any: see the script.
TEST(FanOutTransport, TheScriptHasNothingThatShellsReadDifferently) {
  const Words words = member_command({MemberKind::kSlurmNode, "n1", {}, "42", {}}, kProgram, 9000, {});
  EXPECT_EQ(words[10].find_first_of("'\\!\n"), std::string::npos) << words[10];
}

TEST(FanOutTransport, AWordStaysAWord) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b$(id)\n"), "'a b$(id)\n'");
  EXPECT_EQ(shell_quoted("'"), "''\\'''");
}

TEST(FanOutTransport, KnowsItsOwnFile) {
  const auto program = own_program("1.2.3");
  ASSERT_TRUE(program);
  EXPECT_GT(program->bytes, 1000U);
  EXPECT_EQ(program->sha256.size(), 64U);
}

TEST(FanOutTransport, MembersAreNamedForPeople) {
  EXPECT_EQ(text_of({MemberKind::kHost, "a", {}, {}, {}}), "host a");
  EXPECT_EQ(text_of({MemberKind::kPod, "p", "c", "ns", {}}), "pod ns/p, container c");
  EXPECT_EQ(text_of({MemberKind::kSlurmNode, "n", {}, "42", {}}), "node n of job 42");
}

}  // namespace
}  // namespace unhang::collect
