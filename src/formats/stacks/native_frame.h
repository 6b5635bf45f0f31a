// SPDX-License-Identifier: Apache-2.0
//
// One frame of a native stack as gdb, pstack and eu-stack print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/process_sample.h"

namespace unhang::formats::stacks {

struct NumberedFrame {
  std::int64_t number = 0;  // "#3"
  model::StackFrame frame;
};

// "#3  0x00007f… in ncclGroupEnd () from /lib/libnccl.so.2", "#0  poll (fds=…) at poll.c:29",
// "#1  0x00007f… __poll - /usr/lib/libc.so.6"; nullopt for other lines. Where gdb shows which Python code the
// interpreter's loop runs, the frame is that of the code.
std::optional<NumberedFrame> read_native_frame(std::string_view line);

// "void c10::Future<int>::wait(int) const" -> "c10::Future<…>::wait": the name by which people know it.
std::string short_function(std::string_view text);

// The same of a name that py-spy prints: an address where there is no symbol says nothing, and differs on
// every rank.
std::string native_name(std::string_view text);

}  // namespace unhang::formats::stacks
