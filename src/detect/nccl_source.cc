// SPDX-License-Identifier: Apache-2.0
#include "detect/nccl_source.h"

namespace unhang::detect {

bool is_nccl_source(std::string_view file) {
  for (const std::string_view ending : {".cc", ".h", ".cu"}) {
    for (std::size_t at = file.find(ending); at != file.npos; at = file.find(ending, at + 1)) {
      const std::size_t end = at + ending.size();
      const char next = end < file.size() ? file[end] : ':';
      const bool in_word = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                           (next >= '0' && next <= '9') || next == '_';
      if (!in_word) return true;
    }
  }
  return false;
}

}  // namespace unhang::detect
