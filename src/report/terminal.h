// SPDX-License-Identifier: Apache-2.0
//
// The verdict for a person at a terminal. Without -v it is one screen of at most 15 lines that answers, in
// this order: what is it, who, why and where, who suffers, what was not seen, what to do now, and by which
// evidence. With -v everything else follows below the same screen.
#pragma once

#include <string>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report {

struct TerminalOptions {
  int width = 80;      // columns; no line is longer, except a command in the details (it must stay whole)
  bool color = false;  // ANSI colours
  int verbosity = 0;   // 0: the first screen; 1: details; 2: details without limits on their number
  bool full_stacks = false;  // whole stacks instead of the first frame of the user's code
  // Inputs, files set aside and conflicts are shown from here; null: only what the verdict itself holds. Must
  // outlive the call.
  const model::Case* evidence = nullptr;
};

inline constexpr std::size_t kFirstScreenLines = 15;
inline constexpr int kNarrowest = 40;

// Pure: the same values give the same bytes. Whatever the evidence holds, no byte of it acts on the terminal.
std::string render_terminal(const model::Verdict& verdict, const TerminalOptions& options);

}  // namespace unhang::report
