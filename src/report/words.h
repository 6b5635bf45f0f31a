// SPDX-License-Identifier: Apache-2.0
//
// How the verdict's values are put into words, the same for the terminal and for Markdown. Plain text, not
// yet cut, wrapped or made harmless: that is text_layout.h, which the renderers call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report {

// "collective desync", "process or device unavailable".
std::string spaced(std::string_view name);

// "Transport stall".
std::string capitalised(std::string text);

// "rank 5 (node3)", "pair 2->3", "GPU 3 on node3 (rank 5)", "rank 1 of tp (35)".
std::string subject_words(const model::Subject& subject);

// The same for many: ranks are folded, host by host ("ranks 4,5 (node1)", "rank 12 (node3)"), others follow
// one by one. `width` bounds each item, not the whole.
std::vector<std::string> subjects_words(const std::vector<model::Subject>& subjects, int width);

// "TENSOR_MODEL_PARALLEL_GROUP (35) · all_gather #1412 · step 42"; empty where nothing is known.
std::string where_words(const model::Where& where);

// The folder that all evidence and inputs lie in, with its "/" at the end: left out of citations, so that
// what differs can be read. Empty where there is none.
std::string common_folder(const model::Verdict& verdict, const model::Case* evidence);

// `path` without `folder` in front, where it begins so.
std::string_view inside(std::string_view path, std::string_view folder);

// "node3/dump_5 record 1411"; the path may be cut in front to keep it within `path_width`.
std::string citation(const model::EvidenceItem& item, std::string_view folder, int path_width);

// All of them in at most `width` columns: with hosts while that fits, then ranks and the number of hosts
// only.
std::string culprits_within(const std::vector<model::Subject>& subjects, int width);

// The verdict's headline, or a sentence of our own where it has none.
std::string headline_words(const model::Verdict& verdict);

// "1,023 of 1,024 ranks waiting", "all 64 ranks slowed down".
std::string impact_words(const model::Verdict& verdict);

// What was not seen: as the verdict says, else from its coverage; then inputs with problems or set aside
// (`evidence` may be null). `width` bounds each folded set of ranks.
std::vector<std::string> unseen_words(const model::Verdict& verdict, const model::Case* evidence, int width);

// Does the verdict say that a fault was found? (False: healthy.)
bool is_healthy(const model::Verdict& verdict);

// The title of a cause, or the code itself where the catalogue has none.
std::string_view cause_title(std::string_view code);

// Why a step is there; ends in ":" (or "?") where its command follows.
std::string reason_words(const model::RecoveryStep& step);

// "forward_step (train.py:88)".
std::string frame_words(const model::StackLine& frame);

// The frames to show: all of them, or the innermost one of the user's own code (else the innermost).
std::vector<model::StackLine> shown_frames(const std::vector<model::StackLine>& frames, bool all);

// The evidence to show first: of the culprits, then of the strongest findings; without doubles, at most
// `most`.
std::vector<model::EvidenceId> key_evidence(const model::Verdict& verdict, std::size_t most);

}  // namespace unhang::report
