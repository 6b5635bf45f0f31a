// SPDX-License-Identifier: Apache-2.0
//
// The flags of `unhang capture` that make it one of a whole job, and what is handed to each member.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "collect/fan_out.h"

namespace unhang::cli {

struct FanOutFlags {
  // Given and empty ("--hosts $LIST" where LIST is not set) is a mistake, not this machine.
  std::optional<std::string> hosts, pods, pod_namespace, slurm;

  std::vector<Flag> flags();
  bool any() const { return hosts || pods || slurm; }
  // kUsage where they exclude each other, or one is empty.
  base::Result<collect::MemberSelection> selection() const;
};

// The flags of one capture as words, to be given to another program.
class FlagWords {
 public:
  void add(const std::string& flag, bool on) {
    if (on) x_words.push_back(flag);
  }
  // "--flag=value", so that a value cannot be taken for a flag. Empty ones are left out.
  void add(const std::string& flag, const std::string& value) {
    if (!value.empty()) x_words.push_back(flag + "=" + value);
  }
  void add(const std::string& flag, const char* value) = delete;
  void add(const std::string& flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(flag, value);
  }
  std::vector<std::string> take() { return std::move(x_words); }

 private:
  std::vector<std::string> x_words;
};

}  // namespace unhang::cli
