// SPDX-License-Identifier: Apache-2.0
//
// The incident note: the verdict as Markdown, to paste into a ticket or a chat. Complete enough for a reader
// who has none of the evidence, short enough to be read.
#pragma once

#include <string>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report {

struct MarkdownOptions {
  bool full_stacks = false;               // whole stacks instead of the first frame of the user's code
  const model::Case* evidence = nullptr;  // for files with problems or set aside; may be null
};

// Pure and deterministic. Nothing in the evidence acts as markup: no links, HTML, broken tables or closed
// code blocks.
std::string render_markdown(const model::Verdict& verdict, const MarkdownOptions& options = {});

}  // namespace unhang::report
