// SPDX-License-Identifier: Apache-2.0
#include "checks/doctor.h"

#include <chrono>
#include <cstdlib>

#include "base/printable.h"
#include "checks/environment.h"
#include "cli/check_exit.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/nccl_version_flag.h"
#include "collect/node_look.h"
#include "collect/ras_addresses.h"
#include "os/interrupt.h"
#include "report/checks_json.h"
#include "report/checks_screen.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;

constexpr std::chrono::seconds kPatience{20};  // for everything together

class DoctorCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "doctor",
        .group = "Prepare a job",
        .summary = "say whether this node or pod is ready to be diagnosed",
        .description =
            "Looks at the machine or container it runs in, and at the workers of a job where one runs, and "
            "says what would be missing if the job hung now: variables of the workers, the FIFO and the "
            "folder "
            "of their dumps, RAS, engines, the clock, tools, rights, disks, shared memory, devices. Each "
            "finding has its reason and the lines that mend it.\n\n"
            "It only looks: nothing is changed, no dump is asked for, RAS is greeted and not questioned. "
            "Workers are the processes that have NCCL's library or PyTorch's GPU library loaded, unless "
            "--pid or --match says which. Run it as their user, or as root to look at everything.",
        .flags = flags(),
        .examples = {{"unhang doctor", "On a node, before or while a job runs."},
                     {"unhang doctor --engine http://127.0.0.1:8000 -v",
                      "With the engine's endpoints, and with what passed."},
                     {"kubectl exec vllm-0 -- unhang doctor --json", "In a pod, for a script."}},
        .exit_notes = {{kExitOk, "every check passed"},
                       {kExitSlow, "there are warnings"},
                       {kExitStopped, "something does not work: evidence would be missing"},
                       {kExitUnknown,
                        "nothing is wrong in what was seen, and something could not be looked at"}},
        .gives_verdict = true};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    checks::DoctorOptions options;
    options.collective_timeout = x_timeout;
    if (!x_torch.empty()) {
      const auto release = checks::parse_release(x_torch);
      if (!release) {
        return complain(streams, {ErrorCode::kUsage, "flag --torch-version: '" + base::printable(x_torch) +
                                                         "' is no release (they look like 2.9)"});
      }
      options.software.torch = *release;
      options.software.torch_assumed = false;
    }
    auto look = make_look(options.software);
    if (!look) return complain(streams, look.error());
    const os::Interrupt interrupt;
    look->wake_fd = interrupt.fd();
    look->end = std::chrono::steady_clock::now() + kPatience;
    const auto facts = collect::look_at_node(*look);
    if (interrupt.exit_code() != 0) return interrupt.exit_code();
    if (!facts) return complain(streams, facts.error());
    const model::CheckReport report = checks::check_node(*facts, options);
    streams.out.write(
        x_json ? report::checks_json(report, "unhang.doctor/1")
               : report::render_checks(
                     report, {.width = streams.width, .color = streams.color, .verbose = x_verbose}));
    return exit_code_of(report.worst());
  }

 private:
  std::vector<Flag> flags() {
    return {
        {.name = "--pid",
         .value = "PID",
         .help = "a worker; default: every process that has NCCL loaded",
         .target = &x_pids,
         .group = "What to look at"},
        {.name = "--match",
         .value = "TEXT",
         .help = "workers are the processes with this in their name or command line",
         .target = &x_match,
         .group = "What to look at"},
        {.name = "--engine",
         .value = "URL",
         .help = "an inference engine: its /metrics and /health; may be given several times",
         .target = &x_engines,
         .group = "What to look at"},
        {.name = "--ras",
         .value = "ADDR",
         .help = "HOST:PORT[,…] of a RAS service; default: what the workers or NCCL_RAS_ADDR say, else "
                 "localhost:28028",
         .target = &x_ras,
         .group = "What to look at"},
        {.name = "--nccl-version",
         .value = "V",
         .help = kNcclVersionHelp,
         .target = &x_nccl,
         .group = "Releases"},
        {.name = "--torch-version",
         .value = "RELEASE",
         .help = "of PyTorch, where it cannot be found out",
         .target = &x_torch,
         .group = "Releases"},
        {.name = "--collective-timeout",
         .value = "DURATION",
         .help = "the time limit of the process groups (init_process_group(timeout=…))",
         .target = &x_timeout,
         .group = "Releases"},
        {.name = "--verbose",
         .short_name = "-v",
         .help = "also what passed",
         .target = &x_verbose,
         .group = "Output"},
        {.name = "--json", .help = "as JSON (schema unhang.doctor/1)", .target = &x_json, .group = "Output"},
        folder_flag("--proc", x_proc),
        folder_flag("--sys", x_sys),
        folder_flag("--dev", x_dev),
        folder_flag("--run", x_run)};
  }

  static Flag folder_flag(const std::string& name, std::string& target) {
    return {.name = name,
            .value = "FOLDER",
            .help = "instead of /" + name.substr(2) + " (tests)",
            .target = &target,
            .is_path = true,
            .hidden = true};
  }

  base::Result<collect::NodeLook> make_look(checks::Software& software) const {
    collect::NodeLook look;
    for (const std::string& pid : x_pids) {
      const auto number = pid_of(pid);
      if (!number) return base::fail(number.error());
      look.pids.push_back(*number);
    }
    look.match = x_match;
    look.variables = checks::watched_variables();
    if (!x_ras.empty()) {
      auto addresses = collect::parse_ras_addresses(x_ras);
      if (!addresses) return base::fail(std::move(addresses.error()).with("flag --ras"));
      look.ras = std::move(*addresses);
    }
    for (const std::string& url : x_engines) {
      auto endpoint = collect::parse_engine(url);
      if (!endpoint) return base::fail(std::move(endpoint.error()).with("flag --engine"));
      look.engines.push_back(std::move(*endpoint));
    }
    if (!x_nccl.empty()) {
      const auto release = nccl_version_of(x_nccl);
      if (!release) return base::fail(release.error());
      look.nccl_release = *release;
      software.nccl = {release->major, release->minor, release->patch};
      software.nccl_assumed = false;
    }
    for (const std::string& name : collect::node_variables()) {
      if (const char* value = std::getenv(name.c_str())) look.environment.emplace_back(name, value);
    }
    look.proc = x_proc;
    look.sys = x_sys;
    look.dev = x_dev;
    look.run = x_run;
    return look;
  }

  static base::Result<std::int64_t> pid_of(const std::string& text) {
    constexpr std::size_t kMostDigits = 9;
    const bool is_number = !text.empty() && text.size() <= kMostDigits &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    const std::int64_t pid = is_number ? std::atoll(text.c_str()) : 0;
    if (pid < 1)
      return base::fail(ErrorCode::kUsage, "flag --pid: '" + base::printable(text) + "' is no process id");
    return pid;
  }

  std::vector<std::string> x_pids, x_engines;
  std::string x_match, x_ras, x_nccl, x_torch;
  std::chrono::nanoseconds x_timeout = std::chrono::minutes(10);
  std::string x_proc = "/proc", x_sys = "/sys", x_dev = "/dev", x_run = "/run";
  bool x_verbose = false, x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace unhang::cli
