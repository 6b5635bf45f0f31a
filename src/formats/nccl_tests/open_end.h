// SPDX-License-Identifier: Apache-2.0
//
// JSON without its end: cut back to its last whole value, and closed.
#pragma once

#include <string>
#include <string_view>

namespace unhang::formats::nccl_tests {

struct Closed {
  std::string text;
  bool was_open = false;  // the end was missing
};

// Linear. Brackets deeper than 64 are given up: `text` is empty then.
Closed close_open_end(std::string_view json);

}  // namespace unhang::formats::nccl_tests
