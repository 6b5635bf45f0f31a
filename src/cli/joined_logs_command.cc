// SPDX-License-Identifier: Apache-2.0
#include "cli/joined_logs_command.h"

#include <utility>

#include "cli/complain.h"
#include "cli/exit_codes.h"

namespace unhang::cli {

Command JoinedLogsCommand::with_frame(Command command, std::string_view schema) {
  command.group = "Look at evidence";
  command.positional = evidence_paths();
  command.exit_notes = {{kExitOk, "the logs could be read, whatever they tell"}};
  command.flags.push_back({.name = "--json",
                           .help = "as JSON (schema " + std::string(schema) + ")",
                           .target = &x_json,
                           .group = "Output"});
  for (Flag& flag : anonymize_flags(x_anonymize)) command.flags.push_back(std::move(flag));
  for (Flag& flag : load_flags(x_load)) command.flags.push_back(std::move(flag));
  return command;
}

int JoinedLogsCommand::run(const std::vector<std::string>& paths, Streams& streams) {
  if (const auto fits = check(x_anonymize); !fits) return complain(streams, fits.error());
  x_load.complaints = &streams.err;
  auto joined = load_case(paths, x_load);
  if (!joined) return complain(streams, joined.error());
  anonymize_as_asked(x_anonymize, *joined, nullptr);
  streams.out.write(show(*joined, x_json, streams.width));
  return kExitOk;
}

}  // namespace unhang::cli
