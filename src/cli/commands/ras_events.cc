// SPDX-License-Identifier: Apache-2.0
#include "report/ras_events.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/ras_flags.h"
#include "collect/ras_monitor.h"
#include "formats/catalogue.h"
#include "os/interrupt.h"

namespace unhang::cli {
namespace {

class RasEventsCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "ras events",
        .group = "Look at a live job",
        .summary = "processes that come, fall silent or die, as it happens",
        .description =
            "Listens to what NCCL's RAS service tells by itself (MONITOR, NCCL 2.29.2 and later) until "
            "Ctrl-C, and "
            "prints one line for each event. Times are those of the host that tells.\n\n"
            "That a process is dead reaches every process after 60 seconds. What comes before it, such as a "
            "lost "
            "connection, is told by its neighbours only: 'unhang ras watch' sees a silent process earlier.",
        .flags = {RasFlags::address_flag(x_ras.addresses),
                  {.name = "--duration",
                   .value = "DURATION",
                   .help = "end after that time",
                   .target = &x_duration},
                  {.name = "--group",
                   .value = "GROUP",
                   .help = "lifecycle: processes that come and die; trace: their connections",
                   .target = &x_options.groups,
                   .choices = {"all", "lifecycle", "trace"}},
                  {.name = "--reconnect",
                   .help = "go on when the process that was listened to has gone",
                   .target = &x_options.reconnect},
                  {.name = "--json",
                   .help = "one line of JSON for each event",
                   .target = &x_json,
                   .group = "Output"}},
        .examples = {{"unhang ras events", "The job on this machine."},
                     {"unhang ras events --json --duration 1h >events.jsonl", "An hour, for a script."}},
        .exit_notes = {{kExitOk, "listened until Ctrl-C or the end of --duration"},
                       {kExitUnavailable, "nobody to listen to, or none any more"}}};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    const auto addresses = ras_addresses(x_ras);
    if (!addresses) return complain(streams, addresses.error());
    const os::Interrupt interrupt;
    const net::Deadline deadline = x_duration ? net::Deadline::in(*x_duration) : net::Deadline::never();
    const collect::RasMonitorEnd end = collect::monitor_ras(
        *addresses, x_options, deadline, interrupt.fd(),
        [&](const std::string& where, std::string_view event) { show(where, event, streams); },
        [&](const std::string& text) { streams.err.write(base::printable(text) + "\n"); });
    if (end.interrupted) return kExitOk;
    if (end.deadline && end.listened > 0) return kExitOk;
    if (end.troubles.empty())
      streams.err.write("unhang: nobody could be listened to before --duration was over\n");
    for (const std::string& trouble : end.troubles)
      streams.err.write("unhang: " + base::printable(trouble) + "\n");
    return kExitUnavailable;
  }

 private:
  void show(const std::string& where, std::string_view bytes, Streams& streams) const {
    const formats::Evidence evidence = formats::read_evidence(where, bytes);
    for (const model::RasEvent& event : evidence.ras_events)
      streams.out.write(x_json ? report::ras_event_json(event, where) : report::ras_event_line(event));
    if (evidence.ras_events.empty() && !bytes.empty())
      streams.err.write(
          fmt::format("{}: not understood: {}\n", where, base::printable(bytes.substr(0, 200))));
  }

  RasFlags x_ras;
  collect::RasMonitorOptions x_options;
  std::optional<std::chrono::nanoseconds> x_duration;
  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_ras_events_command() {
  return std::make_unique<RasEventsCommand>();
}

}  // namespace unhang::cli
