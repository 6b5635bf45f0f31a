// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/ras_flags.h"
#include "cli/ras_state_of.h"
#include "os/interrupt.h"
#include "os/write_file.h"
#include "report/ras_json.h"
#include "report/ras_screen.h"

namespace unhang::cli {
namespace {

// The exact bytes: the first answer under the name itself, further ones with a number behind it.
base::Result<> write_raw(const collect::RasPoll& poll, const std::string& path, Output& err) {
  std::size_t count = 0;
  for (const collect::RasReply& reply : poll.replies) {
    if (reply.bytes.empty()) continue;
    const bool numbered = ++count > 1 && path != "-";
    const std::string name = numbered ? fmt::format("{}.{}", path, count) : path;
    if (auto written = os::write_file(name, reply.bytes); !written) return written;
    if (path != "-")
      err.write(fmt::format("{}: {} bytes from {}\n", name, reply.bytes.size(), reply.resolved));
  }
  return {};
}

class RasStatusCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "ras status",
        .group = "Look at a live job",
        .summary = "what NCCL's own health service says about a job",
        .description =
            "Asks the RAS service that NCCL 2.24 and later runs in every process, without ncclras or nc. It "
            "answers "
            "also while the job hangs. Shows per communicator who answered, what was launched and who is "
            "behind.\n\n"
            "Processes of one user share the port: a stopped one that accepts and never answers is skipped, "
            "and "
            "several jobs behind one port are told apart. Only read requests are sent, one a connection. "
            "Releases of "
            "NCCL that a question can crash are not asked (--force asks them).\n\n"
            "One answer proves no stall: counts differ for moments in a job that runs. 'unhang ras watch' "
            "asks again "
            "and again.",
        .flags = {{.name = "--verbose", .short_name = "-v", .help = "every rank", .target = &x_verbose},
                  {.name = "--json",
                   .help = "as JSON (schema unhang.ras/1)",
                   .target = &x_json,
                   .group = "Output"},
                  {.name = "--raw",
                   .value = "FILE",
                   .help =
                       "write the answer there, byte for byte (several: FILE, FILE.2 …; -: standard output)",
                   .target = &x_raw,
                   .is_path = true,
                   .group = "Output"}},
        .examples = {{"unhang ras status", "The job on this machine."},
                     {"unhang ras status -a node3:28028,node4:28028", "Several services, united."},
                     {"unhang ras status --raw ras.json", "Keep the answer; 'unhang diagnose' reads it."}},
        .exit_notes = {{kExitOk, "answered, and nothing wrong was seen"},
                       {kExitStopped, "a process is dead or does not answer, or reported an error"},
                       {kExitUnknown, "counts differ, or something could not be seen: ask again"},
                       {kExitUnavailable, "nobody answered, or the release must not be asked"},
                       {kExitDeadline, "no answer before the deadline"}}};
    for (Flag& flag : x_ras.flags()) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    auto addresses = ras_addresses(x_ras);
    if (!addresses) return complain(streams, addresses.error());
    auto options = ras_client_options(x_ras);
    if (!options) return complain(streams, options.error());
    options->verbose = x_verbose || x_json;

    const os::Interrupt interrupt;
    collect::RasClient client(std::move(*addresses), std::move(*options));
    const collect::RasPoll poll = client.poll(interrupt.fd());
    if (!x_raw.empty()) {
      if (auto written = write_raw(poll, x_raw, streams.err); !written)
        return complain(streams, written.error());
    }
    const report::RasState state = ras_state_of(poll);
    if (x_raw != "-") show(state, streams);
    if (poll.interrupted) return interrupt.exit_code();
    return ras_exit_code(state);
  }

 private:
  void show(const report::RasState& state, Streams& streams) const {
    if (x_json) return streams.out.write(report::render_ras_json(state, report::JsonLayout::kIndented));
    const report::RasScreenOptions options{streams.width, streams.color, x_verbose};
    // Without any job there is nothing to show, only something to complain of.
    (state.jobs.empty() ? streams.err : streams.out).write(report::render_ras_screen(state, options));
    if (state.jobs.empty()) streams.err.write(what_next(state));
  }

  static std::string_view what_next(const report::RasState& state) {
    const auto all = [&](bool report::RasTroubleState::*what) {
      return std::all_of(state.troubles.begin(), state.troubles.end(),
                         [what](const report::RasTroubleState& trouble) { return trouble.*what; });
    };
    if (all(&report::RasTroubleState::refused))
      return "Next: 'unhang capture' keeps what can be had without asking RAS; --force asks\n"
             "all the same and may crash the job.\n";
    if (all(&report::RasTroubleState::deadline))
      return "Next: 'unhang capture -o DIR' keeps dumps and process facts; look for stopped\n"
             "processes (ps, state T or D), or give it longer (--timeout).\n";
    return "Next: ask where a process of the job runs, in its network namespace (container);\n"
           "its port is NCCL_RAS_ADDR, else localhost:28028. NCCL has RAS since 2.24, unless\n"
           "NCCL_RAS_ENABLE=0.\n";
  }

  RasFlags x_ras;
  bool x_verbose = false;
  bool x_json = false;
  std::string x_raw;
};

}  // namespace

std::unique_ptr<CommandBase> make_ras_status_command() {
  return std::make_unique<RasStatusCommand>();
}

}  // namespace unhang::cli
