// SPDX-License-Identifier: Apache-2.0
//
// What -v adds below the first screen: findings, alternatives, stacks, coverage, clocks, inputs that had
// problems.
#pragma once

#include <vector>

#include "report/styled.h"
#include "report/terminal.h"

namespace unhang::report {

std::vector<Line> details(const model::Verdict& verdict, const TerminalOptions& options);

}  // namespace unhang::report
