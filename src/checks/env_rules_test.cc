// SPDX-License-Identifier: Apache-2.0
#include "checks/env_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "checks/env_sources.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

// One environment and what the rule must say of it: nullopt: neither pass nor finding, or a pass.
struct RuleCase {
  std::string_view rule;
  std::string_view lines;          // what is set
  std::optional<Status> expected;  // the worst finding; nullopt: it must not fire
  std::string_view torch = "2.14";
  std::string_view nccl = "2.30";
  Engine engine = Engine::kNone;
};

constexpr auto kQuiet = std::nullopt;

// For each rule one that fires, and look-alikes that must not.
const RuleCase kCases[] = {
    {"old-name", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000\nTORCH_NCCL_DEBUG_INFO_PIPE_FILE=/run/fr_", kQuiet},
    {"old-name", "NCCL_BLOCKING_WAIT=1", kQuiet},
    {"old-name", "NCCL_BLOCKING_WAIT=0", Status::kWarn},
    {"old-name", "NCCL_BLOCKING_WAIT=0", kQuiet, "2.1"},
    {"old-name", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000", Status::kWarn},
    {"old-name", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000", kQuiet, "2.7"},
    {"old-name", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000\nTORCH_FR_BUFFER_SIZE=2000", kQuiet},
    {"old-name", "TORCH_NCCL_DUMP_ON_TIMEOUT=1", kQuiet, "2.14"},
    {"old-name", "TORCH_NCCL_DUMP_ON_TIMEOUT=1", Status::kWarn, "2.15"},
    {"old-name", "NCCL_TREE_THRESHOLD=0", Status::kFail},
    {"too-new", "TORCH_FR_BUFFER_SIZE=2000", Status::kWarn, "2.7"},
    {"too-new", "TORCH_FR_BUFFER_SIZE=2000\nTORCH_NCCL_TRACE_BUFFER_SIZE=2000", kQuiet, "2.7"},
    {"too-new", "TORCH_FR_BUFFER_SIZE=2000", kQuiet, "2.8"},
    {"too-new", "NCCL_RAS_ADDR=localhost:28028", Status::kWarn, "2.14", "2.23.4"},
    {"too-new", "NCCL_RAS_ADDR=localhost:28028", kQuiet, "2.14", "2.24.3"},
    {"unknown-name", "NCCL_TIMEOUT=1800", Status::kWarn},
    {"unknown-name", "NCCL_DEUBG=INFO", Status::kFail},
    {"unknown-name", "NCCL_DEBUG_SUBSYSTEM=INIT,ENV", Status::kFail},
    {"unknown-name", "TORCH_NCCL_TRACE_BUFFERSIZE=2000", Status::kFail},
    {"unknown-name", "NCCL_TRACE_BUFFER_SIZE=2000", Status::kFail},
    {"unknown-name", "NCCL_DEBUG=INFO", kQuiet},
    {"unknown-name", "NCCL_GIN_SOMETHING_NEW=1", kQuiet},
    {"not-a-number", "NCCL_P2P_DISABLE=true", Status::kFail},
    {"not-a-number", "NCCL_P2P_DISABLE=1", kQuiet},
    {"not-a-number", "NCCL_IB_DISABLE=false", Status::kWarn},
    {"not-a-number", "NCCL_NVLS_ENABLE=off", Status::kWarn},
    {"not-a-number", "NCCL_IB_DISABLE=false", Status::kWarn, "2.14", "2.31"},
    {"not-a-number", "NCCL_NVLS_ENABLE=false", Status::kFail, "2.14", "2.31"},
    {"not-a-number", "NCCL_IB_TIMEOUT=22s", Status::kFail},
    {"not-a-number", "NCCL_BUFFSIZE=0x400000", kQuiet},
    {"not-a-number", "NCCL_P2P_LEVEL=SYS", kQuiet},
    {"not-a-number", "TORCH_NCCL_ENABLE_MONITORING=on", Status::kFail},
    {"not-a-number", "TORCH_NCCL_ENABLE_MONITORING=True", kQuiet},
    {"not-a-number", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=10min", Status::kFail},
    {"wrong-word", "NCCL_DEBUG=debug", Status::kFail},
    {"wrong-word", "NCCL_DEBUG=info", kQuiet},
    {"wrong-word", "TORCH_DISTRIBUTED_DEBUG=1", Status::kFail},
    {"wrong-word", "TORCH_DISTRIBUTED_DEBUG=INFO", kQuiet},
    {"quoting", "NCCL_DEBUG=\"INFO\"", Status::kWarn},
    {"quoting", "export NCCL_DEBUG=\"INFO\"", kQuiet},
    {"quoting", "NCCL_DEBUG=INFO\r\n", Status::kFail},
    {"quoting", "environment:\n  TORCH_NCCL_ENABLE_MONITORING: true", Status::kWarn},
    {"quoting", "environment:\n  NCCL_IB_DISABLE: true", kQuiet},  // not-a-number says more
    {"quoting", "environment:\n  NCCL_IB_DISABLE: 1", kQuiet},
    {"quoting", "kind: ConfigMap\ndata:\n  NCCL_IB_DISABLE: 1", Status::kFail},
    {"set-twice", "NCCL_DEBUG=INFO\nNCCL_DEBUG=WARN", Status::kWarn},
    {"set-twice", "NCCL_DEBUG=INFO\nNCCL_DEBUG=INFO", kQuiet},
    {"recorder-off", "TORCH_FR_BUFFER_SIZE=0", Status::kFail},
    {"recorder-off", "TORCH_FR_BUFFER_SIZE=0\nTORCH_NCCL_DUMP_ON_TIMEOUT=0", Status::kWarn},
    {"recorder-off", "TORCH_NCCL_DUMP_ON_TIMEOUT=1", Status::kFail, "2.6"},
    {"recorder-off", "TORCH_NCCL_DUMP_ON_TIMEOUT=1", kQuiet, "2.9"},
    {"recorder-off", "export TORCH_FR_BUFFER_SIZE=$RING", kQuiet},
    {"recorder-off", "TORCH_FR_BUFFER_SIZE=0", kQuiet, "2.14", "2.30", Engine::kTrtllm},
    {"ring-by-default", "NCCL_DEBUG=INFO", Status::kWarn, "2.8"},
    {"ring-by-default", "TORCH_FR_BUFFER_SIZE=2000", kQuiet, "2.8"},
    {"ring-by-default", "NCCL_DEBUG=INFO", kQuiet, "2.10"},
    {"ring-size", "TORCH_FR_BUFFER_SIZE=65536", Status::kWarn},
    {"ring-size", "TORCH_FR_BUFFER_SIZE=50", Status::kWarn},
    {"ring-size", "TORCH_FR_BUFFER_SIZE=-1", Status::kFail},
    {"ring-size", "TORCH_FR_BUFFER_SIZE=20000", kQuiet},
    {"ring-names-differ", "TORCH_FR_BUFFER_SIZE=2000\nTORCH_NCCL_TRACE_BUFFER_SIZE=100", Status::kWarn},
    {"ring-names-differ", "TORCH_FR_BUFFER_SIZE=2000\nTORCH_NCCL_TRACE_BUFFER_SIZE=2000", kQuiet},
    {"dump-off", "TORCH_NCCL_DUMP_ON_TIMEOUT=0", Status::kFail},
    {"dump-off", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000", Status::kFail, "2.6"},
    {"dump-off", "TORCH_NCCL_DUMP_ON_TIMEOUT=yes", kQuiet},
    {"monitor-off", "TORCH_NCCL_ENABLE_MONITORING=0", Status::kFail},
    {"monitor-off", "TORCH_NCCL_ENABLE_MONITORING=1", kQuiet},
    {"fifo-dead", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/run/fr_\nTORCH_FR_BUFFER_SIZE=2000", Status::kFail},
    {"fifo-dead",
     "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/run/"
     "fr_\nTORCH_NCCL_TRACE_BUFFER_SIZE=2000\nTORCH_NCCL_DUMP_ON_TIMEOUT=0",
     Status::kFail},
    {"fifo-dead", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/run/fr_\nTORCH_NCCL_TRACE_BUFFER_SIZE=2000", kQuiet},
    {"blocking-wait", "TORCH_NCCL_BLOCKING_WAIT=1", Status::kFail},
    {"blocking-wait", "NCCL_BLOCKING_WAIT=1", Status::kFail},
    {"blocking-wait", "TORCH_NCCL_BLOCKING_WAIT=0", kQuiet},
    {"error-handling", "TORCH_NCCL_ASYNC_ERROR_HANDLING=0", Status::kWarn},
    {"error-handling", "TORCH_NCCL_ASYNC_ERROR_HANDLING=7", Status::kFail},
    {"error-handling", "TORCH_NCCL_ASYNC_ERROR_HANDLING=1", kQuiet},
    {"dump-place", "TORCH_FR_DUMP_TEMP_FILE=/data/%h/fr_", Status::kWarn},
    {"dump-place", "TORCH_FR_DUMP_TEMP_FILE=dumps/fr_", Status::kWarn},
    {"dump-place", "TORCH_FR_DUMP_TEMP_FILE=/data/fr_rank_", kQuiet},
    {"dump-place-in-pod", "env:\n- {name: NCCL_DEBUG, value: INFO}", Status::kWarn},
    {"dump-place-in-pod", "env:\n- {name: TORCH_FR_DUMP_TEMP_FILE, value: /data/fr_}", kQuiet},
    {"dump-place-in-pod", "environment:\n  NCCL_DEBUG: INFO", Status::kWarn},
    {"dump-place-in-pod", "NCCL_DEBUG=INFO", kQuiet},
    {"costly-debug", "TORCH_NCCL_ENABLE_TIMING=1", Status::kWarn},
    {"costly-debug", "TORCH_DISTRIBUTED_DEBUG=DETAIL", Status::kWarn},
    {"costly-debug", "TORCH_NCCL_ENABLE_TIMING=0", kQuiet},
    {"heartbeat-before-dump", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=30", Status::kFail},
    {"heartbeat-before-dump", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=120000", Status::kFail},
    {"heartbeat-before-dump", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=120", kQuiet},
    {"dump-wait-short", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=1000", Status::kWarn},
    {"dump-wait-short", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=15000", kQuiet},
    {"poll-slow", "TORCH_NCCL_COORD_CHECK_MILSEC=60000", Status::kWarn},
    {"poll-slow", "TORCH_NCCL_COORD_CHECK_MILSEC=1000", kQuiet},
    {"engine-before-watchdog", "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=300", Status::kWarn},
    {"engine-before-watchdog", "NCCL_DEBUG=INFO", Status::kWarn, "2.14", "2.30", Engine::kVllm},
    {"engine-before-watchdog", "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=1800", kQuiet},
    {"engine-before-watchdog",
     "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=300\nTORCH_NCCL_DEBUG_INFO_PIPE_FILE=/run/fr_", kQuiet},
    {"engine-before-watchdog", "NCCL_DEBUG=INFO", kQuiet},
    {"rpc-unit", "VLLM_RPC_TIMEOUT=60", Status::kWarn},
    {"rpc-unit", "VLLM_RPC_TIMEOUT=60000", kQuiet},
    {"ib-timeout", "NCCL_IB_TIMEOUT=26", Status::kFail},
    {"ib-timeout", "NCCL_IB_TIMEOUT=40", Status::kFail},
    {"ib-timeout", "NCCL_IB_TIMEOUT=22", kQuiet},
    {"ras-factor", "NCCL_RAS_TIMEOUT_FACTOR=60", Status::kWarn},
    {"ras-factor", "NCCL_RAS_TIMEOUT_FACTOR=2", kQuiet},
    {"trace-on", "NCCL_DEBUG=trace", Status::kFail},
    {"trace-on", "NCCL_DEBUG=INFO", kQuiet},
    {"log-off", "NCCL_DEBUG=VERSION", Status::kWarn},
    {"log-off", "NCCL_IB_HCA=mlx5_0", Status::kWarn},
    {"log-off", "NCCL_DEBUG=WARN", kQuiet},
    {"log-no-start", "NCCL_DEBUG=WARN", Status::kWarn},
    {"log-no-start", "NCCL_DEBUG=warn\nNCCL_DEBUG_SUBSYS=INIT,P2P", Status::kWarn},
    {"log-no-start", "NCCL_DEBUG=INFO", kQuiet},
    {"log-no-start", "NCCL_DEBUG=VERSION", kQuiet},  // log-off says more
    {"log-per-call", "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=ALL", Status::kWarn},
    {"log-per-call", "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=INIT,ENV,COLL", Status::kWarn},
    {"log-per-call", "NCCL_DEBUG=WARN\nNCCL_DEBUG_SUBSYS=ALL", kQuiet},
    {"log-per-call", "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=INIT,ENV,P2P", kQuiet},
    {"log-per-call", "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=^COLL", Status::kWarn},
    {"log-subsystems", "NCCL_DEBUG_SUBSYS=INIT,ENV,NETWORK", Status::kWarn},
    {"log-subsystems", "NCCL_DEBUG_SUBSYS=NET", Status::kWarn},
    {"log-subsystems", "NCCL_DEBUG_SUBSYS=INIT,ENV,RAS", Status::kWarn, "2.14", "2.21"},
    {"log-subsystems", "NCCL_DEBUG_SUBSYS=INIT,ENV,RAS", kQuiet},
    {"log-subsystems", "NCCL_DEBUG_SUBSYS=^COLL", kQuiet},
    {"log-file", "NCCL_DEBUG_FILE=/logs/nccl.log", Status::kFail},
    {"log-file", "NCCL_DEBUG_FILE=/logs/nccl.%p.log", Status::kWarn},
    {"log-file", "NCCL_DEBUG_FILE=/logs/nccl.%h.%p.%r.log", Status::kWarn},
    {"log-file", "NCCL_DEBUG_FILE=logs/nccl.%h.%p.log", Status::kWarn},
    {"log-file", "NCCL_DEBUG_FILE=/logs/nccl.%h.%p.log", kQuiet},
    {"log-file", "NCCL_DEBUG_FILE=/dev/stderr", kQuiet},
    {"log-file-unused", "NCCL_DEBUG_FILE=/logs/%h.%p", Status::kWarn},
    {"log-file-unused", "NCCL_DEBUG_FILE=/logs/%h.%p\nNCCL_DEBUG=WARN", kQuiet},
    {"log-times-none", "NCCL_DEBUG=INFO", Status::kWarn},
    {"log-times-none", "NCCL_DEBUG=INFO", kQuiet, "2.14", "2.25"},
    {"log-times-none", "NCCL_DEBUG=INFO\nNCCL_DEBUG_TIMESTAMP_LEVELS=WARN,INFO", kQuiet},
    {"log-times-none", "NCCL_DEBUG=WARN", kQuiet},
    {"log-times-local", "NCCL_DEBUG=INFO\nTZ=Europe/Berlin", Status::kWarn},
    {"log-times-local", "NCCL_DEBUG=INFO\nTZ=UTC", kQuiet},
    {"log-times-wrong", "NCCL_DEBUG_TIMESTAMP_FORMAT=[%F_%T.%6f]_", Status::kWarn, "2.14", "2.26.5"},
    {"log-times-wrong", "NCCL_DEBUG_TIMESTAMP_FORMAT=[%F_%T]_", kQuiet, "2.14", "2.26.5"},
    {"log-times-wrong", "NCCL_DEBUG_TIMESTAMP_FORMAT=[%F_%T.%6f]_", kQuiet, "2.14", "2.27.3"},
    {"ray-dedup", "RAY_DEDUP_LOGS=1", Status::kWarn, "2.14", "2.30", Engine::kVllm},
    {"ray-dedup", "RAY_DEDUP_LOGS=0", kQuiet, "2.14", "2.30", Engine::kVllm},
    {"ray-dedup", "RAY_DEDUP_LOGS=1", kQuiet},
    {"ras-public", "NCCL_RAS_ADDR=0.0.0.0:28028", Status::kFail},
    {"ras-public", "NCCL_RAS_ADDR=[::]:28028", Status::kFail},
    {"ras-public", "NCCL_RAS_ADDR=localhost", Status::kFail},
    {"ras-public", "NCCL_RAS_ADDR=[::1]:28029", kQuiet},
    {"ras-public", "NCCL_RAS_ADDR=127.0.0.1:28028", kQuiet},
    {"ras-off", "NCCL_RAS_ENABLE=0", Status::kWarn},
    {"ras-off", "NCCL_RAS_ENABLE=yes", Status::kWarn},
    {"ras-off", "NCCL_RAS_ENABLE=1", kQuiet},
    {"ras-off", "NCCL_RAS_ENABLE=0", kQuiet, "2.14", "2.27.7"},
    {"ras-off", "NCCL_RAS_ENABLE=0", kQuiet, "2.14", "2.22"},
    {"dev-mode", "VLLM_SERVER_DEV_MODE=1", Status::kWarn},
    {"dev-mode", "VLLM_SERVER_DEV_MODE=0", kQuiet},
    {"workaround", "NCCL_P2P_DISABLE=1", Status::kWarn},
    {"workaround", "NCCL_NVLS_ENABLE=0", Status::kWarn},
    {"workaround", "NCCL_NET=Socket", Status::kWarn},
    {"workaround", "NCCL_P2P_DISABLE=0", kQuiet},
    {"workaround", "NCCL_NVLS_ENABLE=1", kQuiet},
    {"workaround", "NCCL_P2P_DISABLE=true", kQuiet},  // NCCL takes that for 0
    {"contradiction", "NCCL_MIN_CTAS=16\nNCCL_MAX_CTAS=8", Status::kFail},
    {"contradiction", "NCCL_MIN_CTAS=8\nNCCL_MAX_CTAS=8", kQuiet},
    {"contradiction", "NCCL_IB_HCA=mlx5\nNCCL_IB_DISABLE=1", Status::kWarn},
    {"contradiction", "NCCL_IB_HCA=mlx5\nNCCL_IB_DISABLE=0", kQuiet},
    {"interface-loopback", "NCCL_SOCKET_IFNAME=lo", Status::kWarn},
    {"interface-loopback", "NCCL_SOCKET_IFNAME=^lo", kQuiet},
    {"interface-missing", "NCCL_SOCKET_IFNAME=eth0", kQuiet},  // a file cannot tell
};

EnvSubject subject_of(const RuleCase& one) {
  const auto sources = read_env_text(one.lines, "x");
  EnvSubject subject;
  EXPECT_TRUE(sources) << one.lines;
  if (sources && !sources->environments.empty()) subject.environment = sources->environments.front();
  subject.software.torch = *parse_release(one.torch);
  subject.software.nccl = *parse_release(one.nccl);
  subject.software.engine = one.engine;
  return subject;
}

std::optional<Status> found(const EnvSubject& subject, std::string_view rule) {
  std::optional<Status> worst;
  for (const model::CheckResult& result : check_environment(subject)) {
    if (result.id != rule || result.status == Status::kPass) continue;
    EXPECT_FALSE(result.detail.empty()) << rule;
    EXPECT_FALSE(result.why.empty()) << rule;
    EXPECT_FALSE(result.fix.empty()) << rule;
    worst = std::max(worst.value_or(Status::kPass), result.status);
  }
  return worst;
}

TEST(EnvRules, EachFiresWhereItMustAndNowhereElse) {
  for (const RuleCase& one : kCases)
    EXPECT_EQ(found(subject_of(one), one.rule), one.expected)
        << one.rule << " of: " << one.lines << " (PyTorch " << one.torch << ", NCCL " << one.nccl << ")";
}

TEST(EnvRules, EachRuleHasACaseThatFiresAndOneThatDoesNot) {
  std::map<std::string_view, std::set<bool>> seen;
  for (const RuleCase& one : kCases) seen[one.rule].insert(one.expected.has_value());
  seen["workers-differ"] = seen["interface-missing"] = {false, true};  // below: they need more than a file
  std::set<std::string_view> ids;
  for (const Check<EnvSubject>& rule : env_rules()) {
    EXPECT_EQ(seen[rule.id].size(), 2U) << rule.id;
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " is there twice";
  }
  EXPECT_EQ(seen.size(), ids.size()) << "a case names a rule that does not exist";
}

TEST(EnvRules, AFixThatIsTakenMendsWhatWasWrong) {
  for (const RuleCase& one : kCases) {
    if (!one.expected || one.lines.find("env:") == 0 || one.lines.find("ment:") != std::string_view::npos ||
        one.lines.find("kind:") == 0)
      continue;
    EnvSubject subject = subject_of(one);
    subject.environment.form = base::EnvForm::kExport;
    for (const model::CheckResult& result : check_environment(subject)) {
      // Names of places are the reader's to choose, and carriage returns are mended by a command.
      if (result.id != one.rule || result.status == Status::kPass || result.fix.starts_with("sed")) continue;
      const auto mended = read_env_lines("export X=1\n" + result.fix + "\n", "fix");
      ASSERT_TRUE(mended) << result.fix;
      EnvSubject after = subject;
      std::erase_if(after.environment.variables, [&](const Variable& variable) {
        return result.fix.find("unset " + variable.name) != std::string::npos;
      });
      for (const Variable& variable : mended->environments.front().variables)
        after.environment.variables.push_back(variable);
      if (one.rule == "set-twice" || one.rule == "old-name" || one.rule == "too-new" ||
          one.rule == "unknown-name" || one.rule == "fifo-dead" || one.rule == "quoting")
        continue;  // mended by taking the other line away
      EXPECT_EQ(found(after, one.rule), std::nullopt) << one.rule << " after " << result.fix;
      break;
    }
  }
}

std::string fix_of(const EnvSubject& subject, std::string_view rule) {
  for (const model::CheckResult& result : check_environment(subject)) {
    if (result.id == rule && result.status != Status::kPass) return result.fix;
  }
  return {};
}

TEST(EnvRules, AListOfSubsystemsLosesNothingByItsMend) {
  struct Mend {
    std::string_view rule, set, fix, nccl = "2.30";
  };
  for (const Mend& one : {Mend{"log-subsystems", "BOOTSTRAP,RAS", "INIT,ENV,BOOTSTRAP,RAS"},
                          Mend{"log-subsystems", "INIT,ENV,BOOTSTRAP,RAS,FOO", "INIT,ENV,BOOTSTRAP,RAS"},
                          Mend{"log-subsystems", "RAS,ENV,INIT,NETWORK,P2P", "RAS,ENV,INIT,NET,P2P"},
                          Mend{"log-subsystems", "INIT,RAS,SHM", "ENV,INIT,SHM", "2.21"},
                          Mend{"log-subsystems", "^COLL,FOO", "^COLL"},
                          Mend{"log-subsystems", "^INIT", "INIT,BOOTSTRAP,ENV,NET,GRAPH,RAS"},
                          Mend{"log-per-call", "INIT,ENV,SHM,COLL,RAS", "INIT,ENV,SHM,RAS"},
                          Mend{"log-per-call", "ALL", "INIT,ENV,NET,GRAPH", "2.21"}}) {
    const std::string lines = "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=" + std::string(one.set);
    const EnvSubject subject = subject_of({"", lines, kQuiet, "2.14", one.nccl});
    EXPECT_EQ(fix_of(subject, one.rule), "NCCL_DEBUG_SUBSYS=" + std::string(one.fix)) << one.set;
  }
  // What is set beside the level stays.
  const EnvSubject subject = subject_of({"", "NCCL_DEBUG=WARN\nNCCL_DEBUG_SUBSYS=INIT,ENV,P2P", kQuiet});
  EXPECT_EQ(fix_of(subject, "log-no-start"), "NCCL_DEBUG=INFO\nNCCL_DEBUG_FILE=/var/log/nccl/nccl.%h.%p.log");
}

TEST(EnvRules, TheMendHasTheFormOfItsFile) {
  EXPECT_EQ(fix_of(subject_of({"", "environment:\n  NCCL_DEBUG: TRACE", kQuiet}), "trace-on"),
            "NCCL_DEBUG: \"INFO\"");
  EXPECT_EQ(fix_of(subject_of({"", "environment:\n- NCCL_DEBUG=TRACE", kQuiet}), "trace-on"),
            "- \"NCCL_DEBUG=INFO\"");
  EXPECT_EQ(fix_of(subject_of({"", "kind: ConfigMap\ndata: {NCCL_DEBUG: TRACE}", kQuiet}), "trace-on"),
            "NCCL_DEBUG: \"INFO\"");
  EXPECT_EQ(fix_of(subject_of({"", "env:\n- {name: NCCL_DEBUG, value: TRACE}", kQuiet}), "trace-on"),
            "- name: NCCL_DEBUG\n  value: \"INFO\"");
}

// An emptyDir goes with the pod: it is no place that outlives one.
TEST(EnvRules, WhatOutlivesAContainerIsSaidOfContainers) {
  for (const model::CheckResult& result :
       check_environment(subject_of({"", "env:\n- {name: NCCL_DEBUG, value: INFO}", kQuiet}))) {
    if (result.id != "dump-place-in-pod") continue;
    EXPECT_EQ(result.detail, "dumps go to the container's own file system, which goes with the container");
    EXPECT_EQ(result.why, "A restart of the container takes the evidence with it.");
    EXPECT_NE(result.fix.find("goes with the pod"), std::string::npos) << result.fix;
  }
}

TEST(EnvRules, AnInterfaceThatIsNotThere) {
  EnvSubject subject = subject_of({"", "NCCL_SOCKET_IFNAME=ib,bond", kQuiet});
  subject.interfaces = {{"eth0", "lo"}};
  EXPECT_EQ(found(subject, "interface-missing"), Status::kFail);
  subject.interfaces = {{"bond0", "lo"}};
  EXPECT_EQ(found(subject, "interface-missing"), std::nullopt);
  subject = subject_of({"", "NCCL_SOCKET_IFNAME==eth", kQuiet});
  subject.interfaces = {{"eth0", "lo"}};
  EXPECT_EQ(found(subject, "interface-missing"), Status::kFail);
  subject = subject_of({"", "NCCL_SOCKET_IFNAME=^docker,lo", kQuiet});
  subject.interfaces = {{"docker0", "eth0", "lo"}};
  EXPECT_EQ(found(subject, "interface-missing"), std::nullopt);
}

TEST(EnvRules, WorkersThatNeverGotTheVariables) {
  EnvSubject subject = subject_of({"", "NCCL_DEBUG=INFO\nNCCL_IB_HCA=mlx5", kQuiet});
  Environment same = subject.environment, without = subject.environment, other = subject.environment;
  same.name = "pid 2 (a)";
  without.name = "pid 3 (b)";
  without.variables.pop_back();
  other.name = "pid 4 (c)";
  other.variables[0].value = "WARN";
  subject.workers = {same};
  EXPECT_EQ(found(subject, "workers-differ"), std::nullopt);
  subject.workers = {same, other};
  EXPECT_EQ(found(subject, "workers-differ"), Status::kWarn);
  subject.workers = {same, without, other};
  EXPECT_EQ(found(subject, "workers-differ"), Status::kFail);
  // What the same workers lack is said once.
  Environment empty;
  empty.name = "pid 5 (d)";
  subject.workers = {empty};
  std::size_t results = 0;
  for (const model::CheckResult& result : check_environment(subject)) {
    if (result.id != "workers-differ") continue;
    ++results;
    EXPECT_EQ(result.detail,
              "NCCL_DEBUG and NCCL_IB_HCA are set in the launcher and missing in 1 of 1 workers");
    EXPECT_EQ(result.fix, "NCCL_DEBUG=INFO\nNCCL_IB_HCA=mlx5");
  }
  EXPECT_EQ(results, 1U);
}

TEST(EnvRules, ASecretInAValueIsNotShown) {
  const Variable variable{.name = "NCCL_NET", .value = "http://user:hush@host/x", .where = "x:1"};
  EXPECT_EQ(shown(variable).find("hush"), std::string::npos);
  EXPECT_EQ(set_line({}, variable.name, variable.value).find("hush"), std::string::npos);
}

TEST(KnownVariables, AreSortedAndFound) {
  const auto all = known_variables();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const KnownVariable& a, const KnownVariable& b) { return a.name < b.name; }));
  for (const KnownVariable& known : all) {
    EXPECT_EQ(find_known(known.name), &known);
    EXPECT_TRUE(is_watched(known.name)) << known.name;
  }
}

TEST(KnownVariables, ValuesAreReadAsTheProgramsReadThem) {
  EXPECT_EQ(torch_boolean_of("Yes"), true);
  EXPECT_EQ(torch_boolean_of("F"), false);
  EXPECT_EQ(torch_boolean_of("on"), std::nullopt);
  EXPECT_EQ(nccl_integer_of("true"), 0);
  EXPECT_EQ(nccl_integer_of("12abc"), 12);
  EXPECT_EQ(integer_of("12abc"), std::nullopt);
  EXPECT_EQ(integer_of(""), std::nullopt);
}

}  // namespace
}  // namespace unhang::checks
