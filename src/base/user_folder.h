// SPDX-License-Identifier: Apache-2.0
//
// Where a path names a user: somebody's home, a folder of scratch space, "~eve". Part of
// base/anonymous_names.h.
#pragma once

#include <cstddef>
#include <string_view>

namespace unhang::base {

struct UserFolder {
  std::size_t begin = 0, end = 0;  // of the name; end == 0: none is named
  bool is_sure = false;            // so sure that the name counts everywhere
};

// At text[at], a '/' or '\\': "/home/USER", "/Users/USER", "\\Users\\USER"; "/scratch/USER" and, at the
// beginning of a path, "/data/USER" and the like, where the name is no word for what lies in such folders
// ("checkpoints"). Looks at a bounded number of bytes.
UserFolder user_folder_at(std::string_view text, std::size_t at);

// At text[at], a '~': "~eve" and "~eve/x", where a word begins; not "~10", "~half" and the destructors of
// C++.
UserFolder tilde_user_at(std::string_view text, std::size_t at);

}  // namespace unhang::base
