// SPDX-License-Identifier: Apache-2.0
//
// From what the person typed (files, folders, patterns, "-") to the list of files to read. Nothing is opened
// here except folders. The result does not depend on the order of the arguments nor on the order in which a
// folder lists its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace unhang::os {

// Something that was passed over, and why.
struct PathNote {
  std::string path, text;
  bool operator==(const PathNote&) const = default;
};

struct Expanded {
  std::vector<std::string> files;  // sorted bytewise, each file once; "-" is stdin
  std::vector<PathNote> notes;     // sorted
};

struct ExpandLimits {
  std::size_t max_files = 1'000'000;
  std::uint32_t max_depth = 64;  // of folders below an argument
};

// Folders are walked. Hidden files and folders are left out silently unless they are an argument. Links to
// files are followed, and a file that is reached twice (./a and a, a link beside its target) is listed once;
// links to folders are followed only when they are an argument. Pipes, sockets and devices are passed over.
// An argument that does not exist and has * ? or [ is a glob(7) pattern. Fails with kNoInput when no file is
// found at all; otherwise what is missing is a note.
base::Result<Expanded> expand_paths(const std::vector<std::string>& arguments,
                                    const ExpandLimits& limits = {});

}  // namespace unhang::os
