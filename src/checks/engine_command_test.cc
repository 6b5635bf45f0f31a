// SPDX-License-Identifier: Apache-2.0
#include "checks/engine_command.h"

#include <gtest/gtest.h>

namespace unhang::checks {
namespace {

TEST(EngineCommand, ServersAsTheyAreStarted) {
  for (const std::string_view vllm :
       {"vllm serve meta/llama", "exec /opt/venv/bin/vllm serve x", "sh -c 'vllm serve x --port 80'",
        "python3 -m vllm.entrypoints.openai.api_server --model x", "[\"vllm\", \"serve\", \"x\"]",
        "VLLM::Worker_TP0", "ExecStart=/usr/bin/vllm serve x"})
    EXPECT_EQ(engine_of_command(vllm), Engine::kVllm) << vllm;
  for (const std::string_view sglang :
       {"python -m sglang.launch_server --tp 8", "sglang serve x", "sglang::scheduler_TP0"})
    EXPECT_EQ(engine_of_command(sglang), Engine::kSglang) << sglang;
  for (const std::string_view trtllm :
       {"trtllm-serve x --tp_size 8", "mpirun -n 8 trtllm-llmapi-launch /bin/trtllm-serve"})
    EXPECT_EQ(engine_of_command(trtllm), Engine::kTrtllm) << trtllm;
}

TEST(EngineCommand, WhatOnlyLooksLikeIt) {
  for (const std::string_view other :
       {"", "vllm bench latency", "pip install vllm", "serve vllm", "python train.py", "cd /srv/vllm",
        "vllm-serve-monitor", "ray serve vllm", "my.vllm.entrypoints"})
    EXPECT_EQ(engine_of_command(other), std::nullopt) << other;
}

TEST(EngineCommand, ImagesWhoseEntryPointIsTheServer) {
  EXPECT_EQ(engine_of_image("docker.io/vllm/vllm-openai:v0.11.0"), Engine::kVllm);
  EXPECT_EQ(engine_of_image("nvcr.io/nvidia/pytorch:25.01-py3"), std::nullopt);
}

}  // namespace
}  // namespace unhang::checks
