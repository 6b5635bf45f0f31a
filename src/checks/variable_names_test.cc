// SPDX-License-Identifier: Apache-2.0
#include "checks/variable_names.h"

#include <gtest/gtest.h>

#include "checks/known_variables.h"

namespace unhang::checks {
namespace {

TEST(VariableNames, ASlipOfThePenIsToldWithWhatWasMeant) {
  const std::pair<std::string_view, std::string_view> slips[] = {
      {"NCCL_DEUBG", "NCCL_DEBUG"},
      {"NCCL_DEBUG_SUBSYSTEM", "NCCL_DEBUG_SUBSYS"},
      {"NCCL_DEBUG_SUBSYSTEMS", "NCCL_DEBUG_SUBSYS"},
      {"TORCH_NCCL_TRACE_BUFFERSIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"},
      {"NCCL_IB_HCAS", "NCCL_IB_HCA"},
      {"NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"},
      {"NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT"},
      {"TORCH_NCCL_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE"},
      {"TORCH_NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"},
      {"NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"},
      {"NCCL_P2P_NET_CHUNK_SIZE", "NCCL_P2P_NET_CHUNKSIZE"},
  };
  for (const auto& [typed, meant] : slips) {
    const NameVerdict verdict = verdict_of_name(typed);
    EXPECT_EQ(verdict.kind, NameKind::kMisspelt) << typed;
    EXPECT_EQ(verdict.meant, meant) << typed;
  }
}

TEST(VariableNames, WhatIsReadIsNotCorrected) {
  for (const KnownVariable& known : known_variables())
    EXPECT_EQ(verdict_of_name(known.name).kind, NameKind::kRead) << known.name;
  for (const RenamedVariable& renamed : renamed_variables())
    EXPECT_EQ(verdict_of_name(renamed.old_name).kind, NameKind::kRead) << renamed.old_name;
  for (const std::string_view name :
       {"NCCL_IB_PKEY", "NCCL_MIN_P2P_NCHANNELS", "NCCL_LL_BUFFSIZE", "NCCL_VERSION", "TZ", "PATH",
        "TORCH_SHOW_CPP_STACKTRACES", "VLLM_USE_V2"})
    EXPECT_EQ(verdict_of_name(name).kind, NameKind::kRead) << name;
}

TEST(VariableNames, WhatIsNewIsNotJudged) {
  for (const std::string_view name :
       {"NCCL_GIN_SOMETHING_NEW", "TORCH_NCCL_WHATEVER", "NCCL_X", "NCCL_IB_ZZ_QQ"})
    EXPECT_EQ(verdict_of_name(name).kind, NameKind::kNotKnown) << name;
  EXPECT_EQ(verdict_of_name("NCCL_TIMEOUT").kind, NameKind::kNobodys);
  EXPECT_EQ(verdict_of_name("NCCL_" + std::string(100'000, 'A')).kind, NameKind::kNotKnown);
}

TEST(VariableNames, TheNoteIsShort) {
  Environment environment;
  for (const char* name :
       {"NCCL_QQ1", "NCCL_QQ2", "NCCL_QQ3", "NCCL_QQ4", "NCCL_QQ5", "NCCL_QQ6", "NCCL_DEBUG"})
    environment.variables.push_back({.name = name, .value = "1", .where = "x:1"});
  std::set<std::string> names;
  add_unknown_names(environment, names);
  EXPECT_EQ(
      words_of_unknown_names(names),
      "not known to unhang, and not judged: NCCL_QQ1, NCCL_QQ2, NCCL_QQ3, NCCL_QQ4, NCCL_QQ5 and 1 more");
  EXPECT_EQ(words_of_unknown_names({}), std::nullopt);
}

}  // namespace
}  // namespace unhang::checks
