// SPDX-License-Identifier: Apache-2.0
#include "checks/env_sources.h"

#include <gtest/gtest.h>

#include "checks/document.h"
#include "checks/shell_words.h"
#include "checks/software.h"

namespace unhang::checks {
namespace {

Environment only(std::string_view text) {
  const auto sources = read_env_text(text, "f");
  EXPECT_TRUE(sources) << (sources ? "" : sources.error().message);
  if (!sources || sources->environments.empty()) return {};
  EXPECT_EQ(sources->environments.size(), 1U);
  return sources->environments.front();
}

TEST(EnvLines, ShellFiles) {
  const Environment env = only(
      "#!/bin/sh\n"
      "# export NCCL_ALGO=Ring\n"
      "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=\"INIT,ENV\" # both\n"
      "export NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T] '\n"
      "NCCL_IB_HCA=mlx5\\\n_0\n"
      "export NCCL_HOSTID=$(hostname)\n"
      "export NCCL_ALGO=Tree; unset NCCL_ALGO\n"
      "export HF_TOKEN=hush\n");
  EXPECT_EQ(env.form, base::EnvForm::kExport);
  EXPECT_EQ(env.value("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(env.find("NCCL_DEBUG")->where, "f:3");
  EXPECT_EQ(env.value("NCCL_DEBUG_SUBSYS"), "INIT,ENV");
  EXPECT_EQ(env.value("NCCL_DEBUG_TIMESTAMP_FORMAT"), "[%F %T] ");
  EXPECT_EQ(env.value("NCCL_IB_HCA"), "mlx5_0");
  EXPECT_TRUE(env.has("NCCL_HOSTID"));
  EXPECT_FALSE(env.find("NCCL_HOSTID")->known);
  EXPECT_FALSE(env.has("HF_TOKEN"));
}

TEST(EnvLines, UnsetTakesAway) {
  EXPECT_FALSE(only("export NCCL_DEBUG=INFO\nunset NCCL_DEBUG\n").has("NCCL_DEBUG"));
}

TEST(EnvLines, SystemdUnits) {
  const Environment env = only(
      "[Unit]\nDescription=NCCL_DEBUG=WARN\n[Service]\n"
      "Environment=NCCL_DEBUG=INFO \"NCCL_DEBUG_FILE=/l/%%h.%%p.log\"\n"
      "Environment='NCCL_IB_HCA=a b'\n");
  EXPECT_EQ(env.form, base::EnvForm::kSystemd);
  EXPECT_EQ(env.value("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(env.value("NCCL_DEBUG_FILE"), "/l/%h.%p.log");
  EXPECT_EQ(env.value("NCCL_IB_HCA"), "a b");
}

TEST(EnvLines, DockerFilesAndProcEnviron) {
  const Environment docker = only("NCCL_DEBUG=INFO\n\nTZ=UTC\nFOO\n");
  EXPECT_EQ(docker.form, base::EnvForm::kPlain);
  EXPECT_EQ(docker.variables.size(), 2U);
  using namespace std::string_literals;
  const Environment environ = only("PATH=/bin\0NCCL_DEBUG=INFO\0NCCL_DEBUG=WARN\0"s);
  EXPECT_EQ(environ.value("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(only("ENV NCCL_DEBUG INFO\nENV NCCL_ALGO=Ring TZ=UTC\n").variables.size(), 3U);
}

TEST(EnvLines, NoAssignmentAtAllIsAnError) {
  const auto sources = read_env_text("hello\nworld\n", "f");
  ASSERT_FALSE(sources);
  EXPECT_EQ(sources.error().code, base::ErrorCode::kData);
  EXPECT_FALSE(read_env_text("", "f"));
}

TEST(EnvDocument, PodsInYamlAndJson) {
  const Environment yaml = only(
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: w\n    image: x\n    env:\n"
      "    - name: NCCL_DEBUG\n      value: INFO\n    - name: NCCL_IB_DISABLE\n      value: 1\n"
      "    - name: NCCL_HOSTID\n      valueFrom: {fieldRef: {fieldPath: spec.nodeName}}\n"
      "    - {name: API_KEY, value: hush}\n");
  EXPECT_EQ(yaml.name, "container w");
  EXPECT_EQ(yaml.value("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(yaml.find("NCCL_DEBUG")->where, "f:9");
  EXPECT_FALSE(yaml.find("NCCL_DEBUG")->not_text);
  EXPECT_TRUE(yaml.find("NCCL_IB_DISABLE")->not_text);
  EXPECT_FALSE(yaml.find("NCCL_HOSTID")->known);
  EXPECT_EQ(yaml.variables.size(), 3U);
  const Environment json = only(
      R"({"kind":"Pod","spec":{"containers":[{"name":"w","env":[{"name":"NCCL_DEBUG","value":"WARN"}]}]}})");
  EXPECT_EQ(json.value("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(json.name, "container w");
}

TEST(EnvDocument, LeaderAndWorkersAreToldApart) {
  const auto sources = read_env_text(
      "kind: LeaderWorkerSet\nspec:\n  leaderWorkerTemplate:\n"
      "    leaderTemplate: {spec: {containers: [{name: a, env: [{name: NCCL_DEBUG, value: INFO}]}]}}\n"
      "    workerTemplate: {spec: {containers: [{name: a, env: [{name: NCCL_DEBUG, value: WARN}]}]}}\n",
      "f");
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->environments.size(), 2U);
  EXPECT_EQ(sources->environments[0].name, "container a of leaderTemplate");
  EXPECT_EQ(sources->environments[1].name, "container a of workerTemplate");
}

TEST(EnvDocument, ComposeAndConfigMaps) {
  EXPECT_EQ(
      only("services:\n  a:\n    image: x\n    environment:\n      - NCCL_DEBUG=INFO\n").value("NCCL_DEBUG"),
      "INFO");
  EXPECT_EQ(only("services:\n  a:\n    environment:\n      NCCL_DEBUG: INFO\n").value("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(only("kind: ConfigMap\nmetadata: {name: c}\ndata:\n  NCCL_DEBUG: INFO\n").name, "config map c");
}

TEST(EnvDocument, ComposeFilesHaveTheirOwnForms) {
  const Environment map = only(
      "services:\n  llm:\n    environment:\n      NCCL_DEBUG: INFO\n      NCCL_IB_HCA: $HCA\n      "
      "NCCL_DEBUG_FILE: "
      "a$$b\n      NCCL_ALGO:\n");
  EXPECT_EQ(map.name, "service llm");
  EXPECT_EQ(map.form, base::EnvForm::kCompose);
  EXPECT_FALSE(map.find("NCCL_IB_HCA")->known);
  EXPECT_EQ(map.value("NCCL_DEBUG_FILE"), "a$b");
  EXPECT_FALSE(map.find("NCCL_ALGO")->known);  // taken from where compose is started
  const Environment list =
      only("services:\n  a:\n    environment:\n    - NCCL_DEBUG=INFO\n    - NCCL_ALGO\n");
  EXPECT_EQ(list.form, base::EnvForm::kComposeList);
  EXPECT_FALSE(list.find("NCCL_ALGO")->known);
  EXPECT_EQ(only("kind: ConfigMap\ndata:\n  NCCL_DEBUG: INFO\n").form, base::EnvForm::kConfigMap);
}

TEST(EnvDocument, TheCommandTellsTheEngine) {
  EXPECT_EQ(only("kind: Pod\nspec:\n  containers:\n  - name: w\n    image: x\n    command: [python3, -m]\n"
                 "    args: [sglang.launch_server]\n    env: [{name: NCCL_DEBUG, value: INFO}]\n")
                .engine,
            Engine::kSglang);
  // No variable of ours is set, and the command says what it is for.
  EXPECT_EQ(
      only("kind: Pod\nspec:\n  containers:\n  - {name: w, image: x, args: [\"vllm serve m\"]}\n").engine,
      Engine::kVllm);
  EXPECT_EQ(
      only("services:\n  a:\n    command: trtllm-serve m\n    environment: {NCCL_DEBUG: INFO}\n").engine,
      Engine::kTrtllm);
  EXPECT_EQ(
      only("services:\n  a:\n    image: vllm/vllm-openai\n    environment: {NCCL_DEBUG: INFO}\n").engine,
      Engine::kVllm);
  EXPECT_EQ(only("services:\n  a:\n    image: x\n    environment: {NCCL_DEBUG: INFO}\n").engine,
            std::nullopt);
}

TEST(EnvLines, TheCommandTellsTheEngine) {
  EXPECT_EQ(only("#!/bin/sh\nexport NCCL_DEBUG=INFO\nexec vllm serve m\n").engine, Engine::kVllm);
  EXPECT_EQ(only("[Service]\nEnvironment=NCCL_DEBUG=INFO\nExecStart=/opt/trtllm-serve m\n").engine,
            Engine::kTrtllm);
  EXPECT_EQ(only("ENV NCCL_DEBUG=INFO\nCMD [\"vllm\", \"serve\", \"m\"]\n").engine, Engine::kVllm);
  EXPECT_EQ(only("export NCCL_DEBUG=INFO\n# vllm serve m\n").engine, std::nullopt);
}

TEST(EnvText, MoreVariablesThanAnyProcessHas) {
  std::string lines, list = "environment:\n";
  for (std::size_t i = 0; i < kMostVariables + 5; ++i) {
    lines += "NCCL_X" + std::to_string(i) + "=1\n";
    list += "  NCCL_X" + std::to_string(i) + ": \"1\"\n";
  }
  for (const std::string& text : {lines, list}) {
    const auto sources = read_env_text(text, "f");
    ASSERT_TRUE(sources);
    EXPECT_EQ(sources->environments.front().variables.size(), kMostVariables);
    ASSERT_EQ(sources->notes.size(), 1U);
    EXPECT_NE(sources->notes[0].find("only the first 2000 variables"), std::string::npos);
  }
}

TEST(EnvText, WhatIsNoTextIsAnError) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string_view> cases[] = {{"\xFF\xFE"
                                                             "e\0x\0p\0o\0r\0t\0"s,
                                                             "UTF-16"},
                                                            {"\xFE\xFF\0e\0x"s, "UTF-16"},
                                                            {"N\0C\0C\0L\0_\0A\0=\0"
                                                             "1\0\n\0"s,
                                                             "binary"},
                                                            {"\x7F"
                                                             "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0"s,
                                                             "binary"},
                                                            {"\x1F\x8B\x08\0\0\0\0\0\0\3NCCL"s, "gzip"},
                                                            {"\1\2\3\4\5\6NCCL_DEBUG=INFO\n", "binary"},
                                                            {std::string(64, '\0'), "binary"}};
  for (const auto& [bytes, word] : cases) {
    const auto sources = read_env_text(bytes, "f");
    ASSERT_FALSE(sources) << word;
    EXPECT_EQ(sources.error().code, base::ErrorCode::kData);
    EXPECT_NE(sources.error().message.find(word), std::string::npos) << sources.error().message;
    EXPECT_TRUE(sources.error().message.starts_with("f ")) << sources.error().message;
  }
  EXPECT_TRUE(read_env_text("\xEF\xBB\xBFNCCL_DEBUG=INFO\n", "f"));
  EXPECT_TRUE(
      read_env_text("# Gr\xFC\xDF"
                    "e\nNCCL_DEBUG=INFO\n",
                    "f"));
  EXPECT_TRUE(read_env_text("a title\0\0\0NCCL_DEBUG=INFO\0PATH=/bin\0"s, "f"));
}

TEST(EnvDocument, BrokenAndHostileDocuments) {
  EXPECT_FALSE(read_env_text("kind: Pod\nspec: [1, 2\n", "f"));
  EXPECT_FALSE(read_env_text("{\"kind\": ", "f"));
  EXPECT_FALSE(read_env_text("kind: Pod\n", "f"));
  EXPECT_FALSE(read_yaml(std::string(5000, '[')));
  EXPECT_FALSE(read_json(std::string(5000, '[')));
  // Aliases of aliases: 10^9 entries if they were copied.
  std::string bomb = "kind: Pod\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  EXPECT_FALSE(read_env_text(bomb, "f"));
  // An anchor that holds itself.
  EXPECT_FALSE(read_env_text("kind: &a\n- *a\n", "f"));
  // Every beginning of a good document ends without trouble.
  const std::string good =
      "kind: Pod\nspec:\n  containers:\n  - name: w\n    env: [{name: NCCL_DEBUG, value: \"1\"}]\n";
  for (std::size_t size = 0; size < good.size(); ++size) (void)read_env_text(good.substr(0, size), "f");
}

TEST(ShellWords, AsAShellReadsThem) {
  const auto words = shell_words(R"(A='x y' B="p \"q\" \n" C=$D E=a\ b # no)");
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0].text, "A=x y");
  EXPECT_EQ(words[1].text, "B=p \"q\" \\n");
  EXPECT_TRUE(words[2].is_expanded);
  EXPECT_EQ(words[3].text, "E=a b");
  EXPECT_FALSE(shell_words("A='$B'")[0].is_expanded);
}

TEST(Releases, AsPeopleWriteThem) {
  EXPECT_EQ(parse_release("2.28.9+cuda12.8")->text(), "2.28.9");
  EXPECT_EQ(parse_release("22809")->text(), "2.28.9");
  EXPECT_EQ(parse_release("v0.11.0rc1")->text(), "0.11.0");
  EXPECT_EQ(parse_release("2.11")->text(), "2.11");
  EXPECT_FALSE(parse_release("newest"));
  EXPECT_FALSE(parse_release("2"));
  EXPECT_TRUE(is_before(Release{2, 27, 7}, 2, 28));
  EXPECT_FALSE(is_before(Release{2, 28, -1}, 2, 28));
}

}  // namespace
}  // namespace unhang::checks
