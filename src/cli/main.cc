// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/program.h"

namespace {

// A closed stdin, stdout or stderr must not be handed out to the next file that is opened.
void fill_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    // Opened the wrong way round on purpose: reading or writing there fails, as it would on a closed one.
    if (::fcntl(fd, F_GETFD) == -1) (void)::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

// Reading a thousand dumps takes and returns the same blocks a thousand times: keep them instead of asking
// the system for fresh pages, which it would clear each time.
void keep_memory() {
#if defined(__GLIBC__)
  constexpr int kMegabyte = 1 << 20;
  (void)::mallopt(M_MMAP_THRESHOLD, 32 * kMegabyte);
  (void)::mallopt(M_TRIM_THRESHOLD, 64 * kMegabyte);
  (void)::mallopt(M_TOP_PAD, 4 * kMegabyte);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory();
  fill_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  unhang::cli::Output out(STDOUT_FILENO), err(STDERR_FILENO);
  try {
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return unhang::cli::run_program(words, unhang::cli::make_commands(), out, err,
                                    unhang::cli::read_surroundings(out));
  } catch (const std::bad_alloc&) {
    err.write("unhang: not enough memory\n");
    return unhang::cli::kExitInternal;
  }
}
