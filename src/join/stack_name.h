// SPDX-License-Identifier: Apache-2.0
//
// Process and rank from the name of a file of stacks, where its content names none: "py-spy.123.txt",
// "gpu-b07-pid-123.gdb.txt", "stacks_rank3.txt". Only numbers that a word calls so, or that stand alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unhang::join {

struct StackName {
  std::int64_t pid = -1;   // -1: none
  std::int32_t rank = -1;  // -1: none
};

StackName read_stack_name(std::string_view path);

}  // namespace unhang::join
