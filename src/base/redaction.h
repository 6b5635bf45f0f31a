// SPDX-License-Identifier: Apache-2.0
//
// Secrets in text: tokens, passwords and what users asked a model. Lines of logs are shown to people and
// sent around, so these are taken out wherever such a line is written.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

// Whether the name of a variable speaks of a secret, in any case: it holds TOKEN, SECRET, PASSWORD, PASSWD,
// CREDENTIAL or KEY. Rather too many than too few.
bool sounds_secret(std::string_view name);

// One line with "(removed)" in the place of
//   tokens known by their shape: hf_…, sk-…, ghp_…, github_pat_…, AKIA…, ASIA…, xox[abpr]-…, JWTs, "Bearer
//   …"; values of names that end in TOKEN, SECRET, PASSWORD, PASSWD, API_KEY, ACCESS_KEY or CREDENTIAL(S),
//   behind
//   '=', ':' or "set by environment to", quoted or not;
//   passwords in addresses: scheme://user:password@host;
//   and, with how long they were, prompts and messages to a model: "prompt: (removed, 1234 characters)".
// All other bytes stay. Applied twice it gives the same as once. Time and space are linear.
std::string redact_line(std::string_view line);

// Whether redact_line could change the line: false for nearly all lines, at the cost of one search. Never
// false where it would.
bool may_hold_secret(std::string_view line);

}  // namespace unhang::base
