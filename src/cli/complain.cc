// SPDX-License-Identifier: Apache-2.0
#include "cli/complain.h"

#include "cli/exit_codes.h"
#include "report/text_layout.h"

namespace unhang::cli {

int complain(Streams& streams, const base::Error& error) {
  streams.err.write("unhang: " + error.message + "\n");
  return exit_code(error.code);
}

void say(Streams& streams, std::string_view text) {
  constexpr std::string_view kWho = "unhang: ";
  const int who = static_cast<int>(kWho.size());
  std::string out;
  for (const std::string& line : report::wrap(text, streams.width - who))
    out += (out.empty() ? std::string(kWho) : std::string(kWho.size(), ' ')) + line + "\n";
  streams.err.write(out);
}

}  // namespace unhang::cli
