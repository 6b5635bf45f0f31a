// SPDX-License-Identifier: Apache-2.0
//
// Secrets in text: tokens, passwords and what users asked a model. Lines of logs are shown to people and
// sent around, so these are taken out wherever such a line is written.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

// Whether the name of a variable speaks of a secret, in any case: it holds TOKEN, SECRET, PASSWORD, PASSWD,
// API_KEY, APIKEY, ACCESS_KEY, PRIVATE_KEY or CREDENTIAL. Rather too many than too few.
bool sounds_secret(std::string_view name);

// One line with "(removed)" in the place of
//   tokens known by their shape: hf_…, sk-…, ghp_…, github_pat_…, AKIA…, ASIA…, xox[abprs]-…, JWTs,
//     "Bearer …";
//   values of names that end in TOKEN, SECRET, PASSWORD, PASSWD, API_KEY, APIKEY, ACCESS_KEY, SECRET_KEY,
//     PRIVATE_KEY, CREDENTIAL or CREDENTIALS (in any case, '-' for '_'): behind '=', ':', " set to " and
//     " set by environment to ", and behind a flag that begins with "--" and any blanks; quotes stay;
//   what follows "Authorization:" and a scheme ("Basic", "Bearer", "token" …), in a header or a pair;
//   passwords in addresses: scheme://user:password@host, and without a scheme behind a name that ends in
//     ADDR, ADDRESS, ENDPOINT, HOST, PROXY, URI or URL;
//   passwords behind short flags of programs that are known: `curl -u user:password`,
//     `docker login -p password`, `sshpass -p password`;
//   and, with how long they were, prompts, messages and token ids: "prompt: (removed, 1234 characters)".
// A value without quotes ends at white space: what follows a space inside of one stays. Values that tell
// nothing (None, null, True, numbers behind TOKEN, <s>) stay, and so do all other bytes. Applied twice it
// gives the same as once. Time and space are linear in the line.
std::string redact_line(std::string_view line);

// Whether redact_line could change the line: false for most lines, in one pass without allocation. Never
// false where it would.
bool may_hold_secret(std::string_view line);

}  // namespace unhang::base
