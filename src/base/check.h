// SPDX-License-Identifier: Apache-2.0
//
// CHECK for what cannot happen, whatever the input: a broken invariant of our own. Always on; prints where
// and aborts. Never use it for something that a file, a network peer or a user can cause.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace unhang::base {

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "unhang: internal error: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace unhang::base

#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::unhang::base::check_failed(#condition, __FILE__, __LINE__))
