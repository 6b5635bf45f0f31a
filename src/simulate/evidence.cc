// SPDX-License-Identifier: Apache-2.0
#include "simulate/evidence.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulate/kernel_lines.h"
#include "simulate/launcher_lines.h"
#include "simulate/nccl_lines.h"
#include "simulate/random.h"
#include "simulate/ras_writer.h"
#include "simulate/torch_lines.h"

namespace unhang::simulate {
namespace {

enum What : std::uint64_t { kSure = 471, kDumps, kHostDumps, kAnswers, kHostLogs, kKernelLog };

void append(LogLines& to, LogLines lines) {
  to.insert(to.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

std::string text_of(LogLines lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LogLine& a, const LogLine& b) { return a.at < b.at; });
  std::string out;
  for (const LogLine& line : lines) out += line.text + "\n";
  return out;
}

// Hands files on, unless they are lost.
class Files {
 public:
  Files(const WriteFile& write, std::vector<std::string>& lost) : x_write(write), x_lost(lost) {}

  void add(bool is_lost, const std::string& name, const std::string& bytes) {
    if (!x_result || bytes.empty()) return;
    if (is_lost) {
      x_lost.push_back(name);
    } else {
      x_result = x_write(name, bytes);
    }
  }
  base::Result<> result() { return std::move(x_result); }

 private:
  const WriteFile& x_write;
  std::vector<std::string>& x_lost;
  base::Result<> x_result;
};

// Two thirds of the jobs write a file for each process, the others one for each machine.
bool one_log_a_host(const Plan& plan) {
  return hash({plan.seed, 481}) % 3 == 0;
}

void write_host_logs(const Course& course, std::int32_t host, bool is_lost, Files& files) {
  const Placement& place = course.placement();
  const std::string name = place.host_name(host);
  LogLines together;
  for (const std::int32_t rank : place.ranks_on(host)) {
    LogLines nccl = nccl_lines(course, rank);
    LogLines torch = torch_lines(course, rank);
    if (one_log_a_host(course.plan())) {
      append(together, std::move(nccl));
      append(together, std::move(torch));
      continue;
    }
    files.add(is_lost, fmt::format("{}/nccl.{}.{}.log", name, name, place.pid(rank)),
              text_of(std::move(nccl)));
    files.add(is_lost, fmt::format("{}/rank{}.log", name, rank), text_of(std::move(torch)));
  }
  files.add(is_lost, name + "/train.log", text_of(std::move(together)));
}

}  // namespace

LostPieces::LostPieces(const Course& course) : x_course(course) {
  x_ras = course.plan().missing && drawn(kAnswers, 0, 35);
}

bool LostPieces::drawn(std::uint64_t what, std::int32_t which, std::uint64_t percent) const {
  return hash({x_course.plan().seed, what, static_cast<std::uint64_t>(which)}) % 100 < percent;
}

bool LostPieces::dump(std::int32_t rank) const {
  const Plan& plan = x_course.plan();
  if (!plan.missing) return false;
  // One dump at least is lost, and one is there.
  const auto sure =
      static_cast<std::int32_t>(hash({plan.seed, kSure}) % static_cast<std::uint64_t>(plan.ranks));
  if (rank == sure) return true;
  if (rank == (sure + 1) % plan.ranks) return false;
  return drawn(kDumps, rank, 12) || drawn(kHostDumps, x_course.placement().host_of(rank), 12);
}

bool LostPieces::logs(std::int32_t host) const {
  return x_course.plan().missing && drawn(kHostLogs, host, 30);
}

bool LostPieces::kernel(std::int32_t host) const {
  return x_course.plan().missing && drawn(kKernelLog, host, 40);
}

base::Result<> write_evidence(const Course& course, const LostPieces& lost_pieces, const WriteFile& write,
                              std::vector<std::string>& lost) {
  const Plan& plan = course.plan();
  Files files(write, lost);
  if (plan.has(kRas)) {
    int number = 1;
    for (const std::int64_t at : course.ras_times())
      files.add(lost_pieces.ras(), fmt::format("ras-{}.json", number++), write_ras_answer(course, at));
  }
  for (std::int32_t host = 0; host < course.placement().hosts(); ++host) {
    if (plan.has(kLogs)) {
      write_host_logs(course, host, lost_pieces.logs(host), files);
      files.add(lost_pieces.logs(host), course.placement().host_name(host) + "/torchrun.log",
                torchrun_log(course, host));
    }
    if (!plan.has(kKernel)) continue;
    const auto ranks = course.placement().ranks_on(host);
    // Nobody can fetch the log of a machine that hangs.
    if (course.fate(ranks.front()) == Fate::kFrozen) continue;
    files.add(lost_pieces.kernel(host), course.placement().host_name(host) + "/dmesg.txt",
              kernel_log(course, host));
  }
  if (plan.has(kLogs)) files.add(lost_pieces.logs(-1), "slurm-4711.out", slurm_log(course));
  return files.result();
}

}  // namespace unhang::simulate
