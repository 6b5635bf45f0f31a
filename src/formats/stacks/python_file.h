// SPDX-License-Identifier: Apache-2.0
//
// Whether a frame's file is of Python code, as tools that mix Python and native frames print it.
#pragma once

#include <string_view>

namespace unhang::formats::stacks {

// "train.py", "<string>", "<frozen runpy>", "loop.pyx".
inline bool is_python_file(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyx") || (file.starts_with('<') && file.ends_with('>'));
}

}  // namespace unhang::formats::stacks
