// SPDX-License-Identifier: Apache-2.0
//
// Goes through the members of one tar or zip. Wraps libarchive: the only .cc file that includes its headers.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "os/byte_source.h"
#include "os/evidence_reader.h"
#include "os/read_budget.h"

namespace unhang::os {

// `name` is printable (base/printable.h); `bytes` are valid only during the call.
using OnMember = std::function<void(const std::string& name, std::string_view bytes)>;

struct WalkContext {
  const std::string& path;  // of the archive, for troubles
  ReadBudget& budget;
  std::string& buffer;  // for one member at a time
  const OnMember& on_member;
  const OnTrouble& on_trouble;
  // Asked for members as AskForStream is for files, with their names; may be empty.
  const AskForStream& ask_for_stream;
};

// Both call on_member once for each regular member in stored order, and on_trouble for what is lost. They end
// early when the budget is exhausted; whoever finds that out tells it, once. True when the archive was read
// to its proper end.
bool walk_tar(ByteSource& source, const WalkContext& context);
// A zip is read through its central directory, hence from something that can be sought in: `fd`, or `bytes`
// when fd is -1.
struct ZipInput {
  int fd = -1;
  std::string_view bytes;
};
bool walk_zip(const ZipInput& input, const WalkContext& context);

}  // namespace unhang::os
