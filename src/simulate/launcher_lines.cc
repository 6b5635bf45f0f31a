// SPDX-License-Identifier: Apache-2.0
#include "simulate/launcher_lines.h"

#include <iterator>

#include <fmt/format.h>

#include "simulate/log_line.h"

namespace unhang::simulate {
namespace {

using Kind = Happening::Kind;

constexpr std::string_view kApi = "torch/distributed/elastic/multiprocessing/api.py";
constexpr std::int64_t kMillisecond = 1000000;

bool ends(const Happening& what) {
  return what.kind == Kind::kOutOfMemory || what.kind == Kind::kException;
}

}  // namespace

std::string slurm_log(const Course& course) {
  std::string out;
  if (course.has(Kind::kClosed)) return out;
  const Placement& place = course.placement();
  for (const Happening& what : course.truth().happenings) {
    if (!ends(what)) continue;
    out += fmt::format("srun: error: {}: task {}: {}\n", place.host_name(place.host_of(what.rank)), what.rank,
                       what.kind == Kind::kOutOfMemory ? "Out Of Memory" : "Exited with exit code 1");
  }
  return out;
}

std::string torchrun_log(const Course& course, std::int32_t host) {
  std::string out;
  if (!course.has(Kind::kClosed)) return out;
  const Placement& place = course.placement();
  const std::int64_t agent = place.pid(host * place.ranks_per_host()) - 40;
  for (const Happening& what : course.truth().happenings) {
    if (!ends(what) || place.host_of(what.rank) != host) continue;
    const std::int64_t at = course.gone_at(what.rank) + 90 * kMillisecond + place.clock_offset(host);
    const std::string time = torch_time(at).substr(0, 17) + "000";
    for (const Happening& closed : course.truth().happenings) {
      if (closed.kind != Kind::kClosed) continue;
      fmt::format_to(std::back_inserter(out), "W{} {} {}:897] Sending process {} closing signal SIGTERM\n",
                     time, agent, kApi, place.pid(closed.rank));
    }
    const bool killed = what.kind == Kind::kOutOfMemory;
    fmt::format_to(
        std::back_inserter(out),
        "E{} {} {}:869] failed (exitcode: {}) local_rank: {} (pid: {}) of binary: /usr/bin/python3\n", time,
        agent, kApi, killed ? -9 : 1, place.device_of(what.rank), place.pid(what.rank));
    const std::string line(60, '=');
    const std::string thin(60, '-');
    fmt::format_to(
        std::back_inserter(out),
        "{0}\n/workspace/train.py FAILED\n{1}\nFailures:\n  <NO_OTHER_FAILURES>\n{1}\nRoot Cause (first "
        "observed failure):\n[0]:\n  time      : {2}\n  host      : {3}\n  rank      : {4} (local_rank: "
        "{5})\n  exitcode  : {6} (pid: {7})\n  error_file: <N/A>\n  traceback : {8}\n{0}\n",
        line, thin, plain_time(at).replace(10, 1, "_"), place.host_name(host), what.rank,
        place.device_of(what.rank), killed ? -9 : 1, place.pid(what.rank),
        killed ? fmt::format("Signal 9 (SIGKILL) received by PID {}", place.pid(what.rank))
               : "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html");
  }
  return out;
}

}  // namespace unhang::simulate
