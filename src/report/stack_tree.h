// SPDX-License-Identifier: Apache-2.0
//
// The stacks of many ranks as one tree: what they have in common once, and where they part. Screen, JSON
// (schema unhang.stacks/1) and the collapsed form that flame graphs are made of. Pure: a Case in, bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/stack_looks.h"

namespace unhang::report {

// One frame of the merged tree. Node 0 is the root and has no frame.
struct StackNode {
  model::StackFrame frame;            // its line: that of most members
  std::vector<std::size_t> members;   // looks that pass through it, ascending
  std::vector<std::size_t> children;  // most members first, then as they come
  model::Activity activity = model::Activity::kUnknown;
};

// Looks are merged as far as their frames are the same: function and file, and of Python code that calls on
// the line, too: two calls on different lines are different calls.
std::vector<StackNode> merge_stacks(const std::vector<const StackLook*>& looks);

struct StackScreenOptions {
  int width = 80;
  bool color = false;
  bool every_frame = false;  // else long runs of frames that say nothing are folded
  bool all_threads = false;  // `looks` hold more threads than one of each process
};
std::string render_stacks(const StackLooks& looks, const StackScreenOptions& options);

// Schema unhang.stacks/1.
std::string stacks_json(const StackLooks& looks);

// "outer;inner 7": a line for each path, with the number of looks that have it.
std::string folded_stacks(const StackLooks& looks);

}  // namespace unhang::report
