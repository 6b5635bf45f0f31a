// SPDX-License-Identifier: Apache-2.0
//
// The frame of commands that show what the joined logs of a job tell, without a verdict: paths in, the Case's
// logs out, as text or as JSON, and exit code 0 whatever they tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/anonymize_flags.h"
#include "cli/command.h"
#include "cli/load_case.h"
#include "model/case.h"

namespace unhang::cli {

class JoinedLogsCommand : public CommandBase {
 public:
  int run(const std::vector<std::string>& paths, Streams& streams) final;

 protected:
  // Gives `command` its arguments, --json and the flags of all commands that read and show evidence.
  // `schema`: of its JSON, "unhang.logs_init/1".
  Command with_frame(Command command, std::string_view schema);
  // `width`: columns of the text.
  virtual std::string show(const model::Case& joined, bool json, int width) const = 0;

 private:
  LoadOptions x_load;
  AnonymizeFlags x_anonymize;
  bool x_json = false;
};

}  // namespace unhang::cli
