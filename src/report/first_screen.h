// SPDX-License-Identifier: Apache-2.0
//
// The first screen: at most kFirstScreenLines lines, none wider than the terminal. When everything does not
// fit, the least important sections are shortened first and say so; the verdict, the culprits and the first
// step never go.
#pragma once

#include <vector>

#include "report/styled.h"
#include "report/terminal.h"

namespace unhang::report {

std::vector<Line> first_screen(const model::Verdict& verdict, const TerminalOptions& options);

}  // namespace unhang::report
