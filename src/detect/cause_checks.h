// SPDX-License-Identifier: Apache-2.0
//
// What to look at before anything is changed: the check that decides the cause, with the names that the
// evidence gives, and where to look again when one look shows no movement.
#pragma once

#include <string>
#include <vector>

#include "detect/job_contact.h"
#include "model/verdict.h"

namespace unhang::detect {

// `culprits` is the words for the commands ("rank 5"); empty where nobody is named.
void add_cause_checks(const model::Verdict& verdict, const std::string& culprits, const JobContact& job,
                      std::vector<model::RecoveryStep>& out);

void add_next_look(const model::Verdict& verdict, const JobContact& job,
                   std::vector<model::RecoveryStep>& out);

bool covers(const model::Verdict& verdict, std::string_view source);

// The command with the pid of the one culprit in the place of "PID", where it is known.
std::string with_pid(std::string command, const model::Verdict& verdict);

}  // namespace unhang::detect
