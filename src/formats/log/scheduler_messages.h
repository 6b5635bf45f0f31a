// SPDX-License-Identifier: Apache-2.0
//
// What Slurm's and MPI's launchers say of processes that ended and of jobs that they end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/log/facts.h"

namespace unhang::formats::log {

// "Killed" -> -9, "Aborted (core dumped)" -> -6: the texts of strsignal() as shells and launchers print them;
// nullopt for others.
std::optional<std::int64_t> exit_of_signal_text(std::string_view text);

// srun and slurmstepd.
bool take_slurm(const Line& line, Facts& facts);

// Open MPI, PRRTE, MPICH. Some notices take several lines.
class MpiMessages {
 public:
  bool take(const Line& line, Facts& facts);
  bool open() const { return x_lines_left > 0; }
  void finish(Facts& facts);

 private:
  enum class Notice { kNone, kExit, kBadTermination, kLostDaemon };
  void close(Facts& facts);
  bool take_following(std::string_view text, Facts& facts);

  Notice x_notice = Notice::kNone;
  int x_lines_left = 0;
  std::int32_t x_rank = -1;
  std::string x_host;
  Line x_line;
};

}  // namespace unhang::formats::log
