// SPDX-License-Identifier: Apache-2.0
#include "cli/anonymize_flags.h"

#include "report/anonymize.h"

namespace unhang::cli {

std::vector<Flag> anonymize_flags(AnonymizeFlags& values) {
  return {{.name = "--anonymize",
           .help = "hosts, users and addresses by stable pseudonyms, to show it to others",
           .target = &values.on,
           .group = "Output"},
          {.name = "--anonymize-key",
           .value = "TEXT",
           .help = "mixed into the pseudonyms: without it, who guesses a name can check the guess",
           .target = &values.key,
           .group = "Output"}};
}

base::Result<> check(const AnonymizeFlags& values) {
  if (!values.key || values.on) return {};
  return base::fail(base::ErrorCode::kUsage, "--anonymize-key does nothing without --anonymize: give both");
}

void anonymize_as_asked(const AnonymizeFlags& values, model::Case& evidence, model::Verdict* verdict) {
  if (!values.on) return;
  base::AnonymousNames names(values.key.value_or(""));
  report::anonymize(evidence, verdict, names);
}

}  // namespace unhang::cli
