// SPDX-License-Identifier: Apache-2.0
#include "checks/software.h"

#include <charconv>
#include <tuple>

namespace unhang::checks {
namespace {

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string Release::text() const {
  std::string out = std::to_string(major) + "." + std::to_string(minor);
  if (patch >= 0) out += "." + std::to_string(patch);
  return out;
}

bool is_before(const Release& release, int major, int minor, int patch) {
  return std::tuple(release.major, release.minor, release.patch < 0 ? 0 : release.patch) <
         std::tuple(major, minor, patch);
}

std::optional<Release> parse_release(std::string_view text) {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  // NCCL_VERSION_CODE: 22809 is 2.28.9 (10000, 100 and 1 since 2.9).
  constexpr int kSmallestCode = 20900, kLargestCode = 99999;
  if (text.empty() && *first >= kSmallestCode && *first <= kLargestCode)
    return Release{*first / 10000, *first / 100 % 100, *first % 100};
  if (text.empty() || text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text);
  if (!second) return std::nullopt;
  Release release{*first, *second, -1};
  if (text.empty() || text.front() != '.') return release;
  text.remove_prefix(1);
  if (const auto third = take_number(text)) release.patch = *third;
  return release;
}

std::string_view name_of(Engine engine) {
  switch (engine) {
    case Engine::kNone:
      return "none";
    case Engine::kVllm:
      return "vllm";
    case Engine::kSglang:
      return "sglang";
    case Engine::kTrtllm:
      return "trtllm";
  }
  return "none";
}

std::optional<Engine> parse_engine(std::string_view name) {
  for (const Engine engine : {Engine::kNone, Engine::kVllm, Engine::kSglang, Engine::kTrtllm}) {
    if (name == name_of(engine)) return engine;
  }
  return std::nullopt;
}

std::string words_of(const Software& software) {
  std::string words = "for NCCL " + software.nccl.text();
  if (software.nccl_assumed) words += " (assumed; --nccl-version)";
  words += " and PyTorch " + software.torch.text();
  if (software.torch_assumed) words += " (assumed; --torch-version)";
  if (software.engine != Engine::kNone) words += " with " + std::string(name_of(software.engine));
  if (software.engine_release) words += " " + software.engine_release->text();
  if (software.engine_from_command) words += " (by its command; --engine)";
  return words;
}

}  // namespace unhang::checks
