// SPDX-License-Identifier: Apache-2.0
//
// Who is who (`unhang diagnose --show ranks`): every rank with its host, process, GPU and places in
// communicators, and the source of each fact. Pure: a Case in, text out.
#pragma once

#include <string>

#include "model/case.h"

namespace unhang::report {

struct RankTableOptions {
  int width = 80;
  bool color = false;
  int verbosity = 0;  // 1: every fact on a line of its own, with the file it was read from
};

std::string render_rank_table(const model::Case& joined, const RankTableOptions& options);

// Schema unhang.ranks/1.
std::string rank_table_json(const model::Case& joined);

}  // namespace unhang::report
