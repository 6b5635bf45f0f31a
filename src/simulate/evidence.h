// SPDX-License-Identifier: Apache-2.0
//
// All evidence of a simulated incident but the dumps: answers of RAS, logs, kernel logs, as a person has them
// in a folder, and which pieces of any kind are lost.
#pragma once

#include <string>

#include "simulate/course.h"
#include "simulate/simulate.h"

namespace unhang::simulate {

// Which pieces a plan with `missing` loses: at least one, and never all. Pure: the seed decides.
class LostPieces {
 public:
  // `course` must outlive it.
  explicit LostPieces(const Course& course);

  bool dump(std::int32_t rank) const;
  bool ras() const { return x_ras; }
  bool logs(std::int32_t host) const;
  bool kernel(std::int32_t host) const;

 private:
  bool drawn(std::uint64_t what, std::int32_t which, std::uint64_t percent) const;

  const Course& x_course;
  bool x_ras = false;
};

// Writes what the plan's sources ask for, without dumps: "ras-1.json", "node03/dmesg.txt",
// "node03/nccl.node03.412.log", "node03/rank5.log", "slurm-4711.out". What is lost is put into `lost`.
base::Result<> write_evidence(const Course& course, const LostPieces& lost_pieces, const WriteFile& write,
                              std::vector<std::string>& lost);

}  // namespace unhang::simulate
