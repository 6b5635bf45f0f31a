// SPDX-License-Identifier: Apache-2.0
//
// The lines of a text answer put together: sizes from the table, why a rank is missing from the lists of lost
// processes, and what follows for ranks that no line names. What shows signs of a known bug is left out.
#pragma once

#include "formats/ras/text_draft.h"

namespace unhang::formats::ras {

// Turns draft.answer into what model::RasAnswer promises.
//
// Only an answer that is whole and sound tells of ranks without a line: who is not named among those that are
// missing has answered; a communicator without a paragraph on statuses has the row's status everywhere; where
// all groups of a count but one are named, and the groups make up all ranks that answered, the rest is the
// last group.
void conclude(TextDraft& draft, Reading& reading);

}  // namespace unhang::formats::ras
