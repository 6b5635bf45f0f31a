// SPDX-License-Identifier: Apache-2.0
//
// Which releases of NCCL, PyTorch and an engine an environment is meant for: what a variable is called, what
// it is by default and whether it is read at all depends on them.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::checks {

struct Release {
  int major = 0, minor = 0, patch = -1;  // -1: not given

  std::string text() const;  // "2.28.9", "2.11"
};
// Patches that are not given count as 0.
bool is_before(const Release& release, int major, int minor, int patch = 0);

// "2.11", "2.28.9", "v0.11.0rc1", "2.9.1+cu128", NCCL's code "22809"; nullopt where it is none.
std::optional<Release> parse_release(std::string_view text);

enum class Engine { kNone, kVllm, kSglang, kTrtllm };
std::string_view name_of(Engine engine);
std::optional<Engine> parse_engine(std::string_view name);

struct Software {
  Release nccl{2, 30, -1};   // newest that this catalogue was written against
  Release torch{2, 14, -1};  // likewise
  Engine engine = Engine::kNone;
  std::optional<Release> engine_release;
  bool nccl_assumed = true, torch_assumed = true;  // not stated by the caller
  bool engine_assumed = true;                      // likewise; a command that is checked may tell it
  bool engine_from_command = false;                // and told it

  bool nccl_since(int minor, int patch = 0) const { return !is_before(nccl, 2, minor, patch); }
  bool torch_since(int minor) const { return !is_before(torch, 2, minor); }
};

// "for NCCL 2.30 (assumed: --nccl-version) and PyTorch 2.14 with vllm (by its command; --engine)".
std::string words_of(const Software& software);

}  // namespace unhang::checks
