// SPDX-License-Identifier: Apache-2.0
#include "cli/complain.h"

#include "cli/exit_codes.h"

namespace unhang::cli {

int complain(Streams& streams, const base::Error& error) {
  streams.err.write("unhang: " + error.message + "\n");
  return exit_code(error.code);
}

}  // namespace unhang::cli
