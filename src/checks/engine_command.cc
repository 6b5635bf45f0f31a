// SPDX-License-Identifier: Apache-2.0
#include "checks/engine_command.h"

namespace unhang::checks {
namespace {

constexpr std::string_view kBetweenWords = " \t\r\n\"'`()[]{}&|;,=";

std::string_view without_folder(std::string_view word) {
  return word.substr(word.rfind('/') + 1);
}

// A word that names the engine by itself.
std::optional<Engine> engine_of_word(std::string_view word) {
  if (word.starts_with("vllm.entrypoints") || word.starts_with("VLLM::")) return Engine::kVllm;
  if (word == "sglang.launch_server" || word.starts_with("sglang::")) return Engine::kSglang;
  const std::string_view program = without_folder(word);
  if (program == "trtllm-serve" || program == "trtllm-llmapi-launch" ||
      word.starts_with("tensorrt_llm.commands.serve"))
    return Engine::kTrtllm;
  return std::nullopt;
}

// A program that does other things, too: "vllm bench" serves nothing.
std::optional<Engine> engine_of_server(std::string_view program) {
  if (program == "vllm") return Engine::kVllm;
  if (program == "sglang") return Engine::kSglang;
  return std::nullopt;
}

}  // namespace

std::optional<Engine> engine_of_command(std::string_view text) {
  std::string_view before;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBetweenWords);
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBetweenWords));
    text.remove_prefix(word.size());
    if (const auto engine = engine_of_word(word)) return engine;
    if (word == "serve") {
      if (const auto engine = engine_of_server(without_folder(before))) return engine;
    }
    before = word;
  }
}

std::optional<Engine> engine_of_image(std::string_view image) {
  if (image.find("vllm-openai") != std::string_view::npos) return Engine::kVllm;
  return std::nullopt;
}

}  // namespace unhang::checks
