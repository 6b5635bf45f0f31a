// SPDX-License-Identifier: Apache-2.0
//
// A process that was declared dead and goes on is refused by the others for ever, and calls all of them dead
// itself. Its answers say nothing of the job, whenever they were given.
#pragma once

#include "join/ras_jobs.h"

namespace unhang::join {

// Takes the views of such processes out of a history, where another view heard more processes and calls these
// dead; that view notes them as contradicted and cites their sources. At least one view stays.
void drop_given_up(RasHistory& history);

}  // namespace unhang::join
