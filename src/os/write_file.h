// SPDX-License-Identifier: Apache-2.0
//
// Writing results. A reader never sees half a file: it is written beside its place and then renamed into it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unhang::os {

// Replaces `path` by `bytes`, keeping the permissions of a file that was there. "-" is stdout, where a reader
// that went away (head, less) is no error. A link is followed; a pipe or device (/dev/stdout) is written to,
// never replaced.
base::Result<> write_file(const std::string& path, std::string_view bytes);

// The same for what is too long to be held in memory: `produce` is called once and hands the bytes over in
// pieces. After a failure the rest of them is dropped.
using WriteBytes = std::function<void(std::string_view)>;
base::Result<> write_file_in_pieces(const std::string& path,
                                    const std::function<void(const WriteBytes&)>& produce);

// Makes the folder and those above it that are missing. Fine when it is there already.
base::Result<> make_folder(const std::string& path);

}  // namespace unhang::os
