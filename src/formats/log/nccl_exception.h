// SPDX-License-Identifier: Apache-2.0
//
// NCCL's errors as PyTorch, pynccl and Horovod throw them: "NCCL error in: FILE:LINE, unhandled system error,
// NCCL version 2.20.5", then lines of which the one behind "Last error:" is NCCL's own warning.
#pragma once

#include <cstdint>

#include "formats/log/facts.h"

namespace unhang::formats::log {

class NcclException {
 public:
  bool take(const Line& line, Facts& facts);
  // Lines behind one, while open().
  bool take_following(const Line& line, Facts& facts);
  bool open() const { return x_lines_left > 0; }

 private:
  int x_lines_left = 0;
  bool x_last_error = false;  // the next line is the warning
  std::uint32_t x_origin = 0;
};

}  // namespace unhang::formats::log
