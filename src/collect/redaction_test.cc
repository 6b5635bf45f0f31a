// SPDX-License-Identifier: Apache-2.0
#include "collect/redaction.h"

#include <gtest/gtest.h>

namespace unhang::collect {
namespace {

TEST(Redaction, UrlsLoseUsersPasswordsAndValues) {
  EXPECT_EQ(without_secrets("http://127.0.0.1:8000/metrics"), "http://127.0.0.1:8000/metrics");
  EXPECT_EQ(without_secrets("https://user:secret@node3:8000/metrics?token=abc&x=1#frag"),
            "https://node3:8000/metrics?token=removed&x=removed");
  EXPECT_EQ(without_secrets("https://token@node3"), "https://node3");
  EXPECT_EQ(without_secrets("user:se/cret@node3:80"), "node3:80");
  EXPECT_EQ(without_secrets("https://u:a/b@c@node3/x"), "https://node3/x");
  EXPECT_EQ(without_secrets("http://h/?abc123"), "http://h/?removed");
  EXPECT_EQ(without_secrets("http://h/?a=1;b=2"), "http://h/?a=removed&b=removed");
  EXPECT_EQ(without_secrets(""), "");
}

TEST(Redaction, OnlyTheListedVariablesAreKept) {
  for (const char* name : {"RANK", "NCCL_RAS_ADDR", "TORCH_FR_BUFFER_SIZE", "CUDA_VISIBLE_DEVICES"})
    EXPECT_TRUE(may_be_kept(name)) << name;
  for (const char* name :
       {"HOME", "HF_TOKEN", "VLLM_API_KEY", "NCCL_PLUGIN_TOKEN", "TORCH_NCCL_PASSWORD", "RANKS"})
    EXPECT_FALSE(may_be_kept(name)) << name;
}

}  // namespace
}  // namespace unhang::collect
