// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>

#include "base/env_line.h"
#include "base/printable.h"
#include "cli/capture_fan_out.h"
#include "cli/capture_stream.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/nccl_version_flag.h"
#include "cli/stop_when_readable.h"
#include "collect/live_capture.h"
#include "collect/manifest_json.h"
#include "os/interrupt.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

class CaptureCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "capture",
        .group = "Look at a live job",
        .summary = "keep what a live job shows, before it is gone",
        .description =
            "Asks everything that knows something about the job on this machine, side by side and within a "
            "budget, and writes the raw answers to a new folder: NCCL's RAS service and an engine's page of "
            "metrics several times, so that movement can be seen, the Flight Recorder's dumps from where the "
            "workers write them, what each of their threads does, and what the machine says: kernel, GPUs, "
            "network, limits, scheduler. What does not answer is written down, too. Nothing of the job is "
            "changed and nothing is asked that could crash it. Where gdb is installed, it stops each worker "
            "for some seconds, when everything else has been asked; --no-gdb leaves it out.\n\n"
            "The folder is a bundle: `unhang diagnose` reads it, here or on any other machine. It is a valid "
            "one at every moment, also when the capture is interrupted or killed.\n\n"
            "--hosts, --pods and --slurm do the same on each machine or pod of a job, side by side and "
            "within the one budget, and bring all of it into one bundle. Where there is no unhang of this "
            "release, this program is copied for the while.",
        .flags = flags(),
        .examples =
            {{"unhang capture -o /var/crash/job7 --engine http://127.0.0.1:8000",
              "RAS, the engine and all dumps of this machine."},
             {"unhang capture -o /var/crash/job7 --pods app=vllm -n prod",
              "In each pod of the job; --hosts and --slurm for machines."},
             {"unhang capture -o bundle --budget 10s --instance i-7f2 --label pod=$HOSTNAME",
              "In a preStop hook: at most ten seconds. 'unhang diagnose bundle' then says what it means."}},
        .exit_notes = {{kExitOk, "something was captured (the manifest says what was not)"},
                       {kExitUnavailable, "nothing of the job answered and nothing of it was found"}}};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    const auto request = make_request();
    if (!request) return complain(streams, request.error());
    const os::Interrupt interrupt;
    collect::LiveCaptureRequest live = *request;
    live.wake_fd = interrupt.fd();
    const StopWhenReadable watcher(interrupt.fd(), live.stop);
    const auto result = x_stream          ? capture_to_stdout(live)
                        : x_fan_out.any() ? capture_members(live)
                                          : collect::capture_live(live);
    if (!result) return complain(streams, result.error());
    if (!result->trouble.empty()) {
      complain(streams, {base::ErrorCode::kIo, result->trouble});
      say(streams,
          fmt::format("what is in it is whole and can be read; the rest needs another place (-o): {}",
                      base::printable(x_output)));
    } else if (x_stream) {
      // Standard output is the bundle's.
    } else if (x_json) {
      streams.out.write(collect::manifest_json(result->manifest));
    } else {
      streams.out.write(summary(*result, streams.width));
    }
    if (!result->trouble.empty()) return kExitIo;
    if (result->anything) return kExitOk;
    if (result->interrupted) return interrupt.exit_code();
    return kExitUnavailable;
  }

 private:
  std::vector<Flag> flags() {
    std::vector<Flag> all = own_flags();
    for (Flag& flag : x_fan_out.flags()) all.push_back(std::move(flag));
    return all;
  }

  std::vector<Flag> own_flags() {
    return {
        {.name = "--output",
         .short_name = "-o",
         .value = "DIR",
         .help = "folder to write to: new or empty",
         .target = &x_output,
         .is_path = true},
        {.name = "--budget", .value = "TIME", .help = "how long it may take", .target = &x_budget},
        {.name = "--json", .help = "print the manifest instead of a summary", .target = &x_json},
        {.name = "--ras",
         .value = "ADDR",
         .help = "HOST:PORT[,…] of a RAS service; default: what the workers or NCCL_RAS_ADDR say, else "
                 "localhost:28028",
         .target = &x_ras,
         .group = "Sources"},
        {.name = "--no-ras", .help = "do not ask RAS", .target = &x_no_ras, .group = "Sources"},
        {.name = "--nccl-version",
         .value = "V",
         .help = kNcclVersionHelp,
         .target = &x_nccl_version,
         .group = "Sources"},
        {.name = "--engine",
         .value = "URL",
         .help = "an inference engine: its /metrics and /health; may be given several times",
         .target = &x_engines,
         .group = "Sources"},
        {.name = "--dumps",
         .value = "PATH",
         .help = "folder, file or prefix of dumps, besides where the workers write them",
         .target = &x_dumps,
         .is_path = true,
         .group = "Sources"},
        {.name = "--no-dumps", .help = "do not look for dumps", .target = &x_no_dumps, .group = "Sources"},
        {.name = "--trigger-dump",
         .help = "let workers that listen at a pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE) write a new dump; it "
                 "makes the job do something. The old dump is copied first",
         .target = &x_trigger,
         .group = "Sources"},
        {.name = "--trigger-url",
         .value = "[RANK=]URL",
         .help = "PyTorch's worker server, asked for a dump; may be given several times",
         .target = &x_trigger_urls,
         .group = "Sources"},
        {.name = "--pid",
         .value = "PID",
         .help = "a worker; default: every process that has NCCL loaded",
         .target = &x_pids,
         .group = "Sources"},
        {.name = "--match",
         .value = "TEXT",
         .help = "workers are the processes with this in their name or command line",
         .target = &x_match,
         .group = "Sources"},
        {.name = "--sources",
         .value = "LIST",
         .help = "only these: " + names_of_sources(),
         .target = &x_only,
         .group = "Sources"},
        {.name = "--without",
         .value = "LIST",
         .help = "all but these",
         .target = &x_without,
         .group = "Sources"},
        {.name = "--no-gdb",
         .help = "do not stop workers to read their native stacks",
         .target = &x_no_gdb,
         .group = "Sources"},
        {.name = "--samples",
         .value = "N",
         .help = "how often RAS and engines are asked",
         .target = &x_samples,
         .minimum = 1,
         .maximum = 1000,
         .group = "Sources"},
        {.name = "--interval",
         .value = "TIME",
         .help = "between two questions; default: a quarter of the budget, at most 4s",
         .target = &x_interval,
         .group = "Sources"},
        {.name = "--instance",
         .value = "ID",
         .help = "the model instance, written into the bundle",
         .target = &x_instance,
         .group = "Facts"},
        {.name = "--deployment",
         .value = "VERSION",
         .help = "its deployment, written into the bundle",
         .target = &x_deployment,
         .group = "Facts"},
        {.name = "--label",
         .value = "K=V",
         .help = "anything else to know it by; may be given several times",
         .target = &x_labels,
         .group = "Facts"},
        {.name = "--stream",
         .help = "write the bundle to standard output, as a tar that grows; for --hosts and the like",
         .target = &x_stream,
         .hidden = true},
        {.name = "--proc",
         .value = "DIR",
         .help = "another /proc",
         .target = &x_proc,
         .is_path = true,
         .hidden = true},
        {.name = "--sys",
         .value = "DIR",
         .help = "another /sys",
         .target = &x_sys,
         .is_path = true,
         .hidden = true},
        {.name = "--dev",
         .value = "DIR",
         .help = "another /dev",
         .target = &x_dev,
         .is_path = true,
         .hidden = true}};
  }

  static std::string names_of_sources() {
    std::string names;
    for (const collect::LiveSource& source : collect::live_sources())
      names += (names.empty() ? "" : ", ") + std::string(source.name);
    return names;
  }

  base::Result<collect::LiveCaptureRequest> make_request() const {
    const auto usage = [](std::string text) { return base::fail(base::ErrorCode::kUsage, std::move(text)); };
    if (x_stream && (!x_output.empty() || x_json || x_fan_out.any()))
      return usage("--stream excludes --output, --json, --hosts, --pods and --slurm");
    if (x_output.empty() && !x_stream) return usage("where to? Give a new folder with -o DIR");
    if (const auto members = x_fan_out.selection(); !members) return base::fail(members.error());
    if (x_fan_out.any() && !x_pids.empty())
      return usage("--pid: a process is one of one machine; with --hosts, --pods and --slurm give --match");
    for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".zip"}) {
      if (x_output.ends_with(ending))
        return usage("--output: a bundle is a folder; pack it afterwards: tar czf NAME.tar.gz DIR");
    }
    if (x_budget < std::chrono::milliseconds(100))
      return usage("--budget: less than 100ms is no time at all");
    if (x_no_ras && !x_ras.empty()) return usage("--ras and --no-ras exclude each other");
    if (x_no_dumps && !x_dumps.empty()) return usage("--dumps and --no-dumps exclude each other");
    if (x_no_dumps && x_trigger) return usage("--trigger-dump and --no-dumps exclude each other");
    auto selection = collect::parse_selection(x_only, x_without);
    if (!selection) return base::fail(std::move(selection.error()));
    collect::LiveCaptureRequest request;
    request.folder = x_output;
    request.selection = std::move(*selection);
    request.budget = x_budget;
    request.instance = x_instance;
    request.deployment = x_deployment;
    request.ras = !x_no_ras;
    request.ras_addresses = x_ras;
    request.engines = x_engines;
    request.dumps = !x_no_dumps;
    request.dump_paths = x_dumps;
    request.trigger_dumps = x_trigger;
    request.trigger_urls = x_trigger_urls;
    request.match = x_match;
    request.samples = x_samples;
    request.interval = x_interval;
    request.proc = x_proc;
    request.sys = x_sys;
    request.dev = x_dev;
    request.native_stacks = !x_no_gdb;
    request.nvml_words = {"/proc/self/exe", "nvml"};
    request.tool_version = UNHANG_VERSION;
    if (!x_nccl_version.empty()) {
      const auto release = nccl_version_of(x_nccl_version);
      if (!release) return base::fail(release.error());
      request.nccl_release = *release;
    }
    for (const std::string& label : x_labels) {
      const std::size_t equals = label.find('=');
      if (equals == 0 || equals == std::string::npos)
        return usage("--label: '" + label + "' is not KEY=VALUE");
      request.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
    }
    for (const std::string& pid : x_pids) {
      char* end = nullptr;
      const long long number = std::strtoll(pid.c_str(), &end, 10);
      if (pid.empty() || *end != '\0' || number <= 0) return usage("--pid: '" + pid + "' is no process id");
      request.pids.push_back(number);
    }
    for (const std::string& name : collect::capture_variables()) {
      if (const char* value = std::getenv(name.c_str())) request.environment.emplace_back(name, value);
    }
    return request;
  }

  base::Result<collect::CaptureResult> capture_members(const collect::LiveCaptureRequest& live) const {
    collect::FanOutRequest request;
    request.folder = live.folder;
    auto members = x_fan_out.selection();
    auto program = collect::own_program(live.tool_version);
    if (!members) return base::fail(std::move(members.error()));
    if (!program) return base::fail(std::move(program.error()));
    request.members = std::move(*members);
    request.program = std::move(*program);
    request.budget = live.budget;
    request.flags = member_flags();
    request.instance = live.instance;
    request.deployment = live.deployment;
    request.labels = live.labels;
    const char* path = std::getenv("PATH");
    request.programs = {path == nullptr ? "" : path, live.wake_fd};
    request.stop = live.stop;
    return collect::fan_out(request);
  }

  // All but where to and for how long.
  std::vector<std::string> member_flags() const {
    FlagWords words;
    words.add("--ras", x_ras);
    words.add("--no-ras", x_no_ras);
    words.add("--nccl-version", x_nccl_version);
    words.add("--engine", x_engines);
    words.add("--dumps", x_dumps);
    words.add("--no-dumps", x_no_dumps);
    words.add("--trigger-dump", x_trigger);
    words.add("--trigger-url", x_trigger_urls);
    words.add("--match", x_match);
    words.add("--sources", x_only);
    words.add("--without", x_without);
    words.add("--no-gdb", x_no_gdb);
    words.add("--samples", std::to_string(x_samples));
    if (x_interval)
      words.add("--interval",
                fmt::format("{}ms", std::chrono::ceil<std::chrono::milliseconds>(*x_interval).count()));
    words.add("--instance", x_instance);
    words.add("--deployment", x_deployment);
    words.add("--label", x_labels);
    for (const auto& [flag, folder] : {std::pair("proc", &x_proc), {"sys", &x_sys}, {"dev", &x_dev}}) {
      if (*folder != std::string("/") + flag) words.add(std::string("--") + flag, *folder);
    }
    return words.take();
  }

  std::string summary(const collect::CaptureResult& result, int width) const {
    constexpr int kIndent = 12;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::string lines;
    for (const model::BundleSource& source : result.manifest.sources) {
      std::uint64_t of_source = 0;
      for (const model::BundleFile& file : source.files) of_source += file.bytes;
      files += source.files.size();
      bytes += of_source;
      const std::string what =
          source.kind == "processes"
              ? fmt::format("{} looked at", result.manifest.processes.size())
              : fmt::format("{}, {} bytes", report::counted(source.files.size(), "file", "files"), of_source);
      lines +=
          fmt::format("  {:<10}{:<17}{}{}\n", model::name_of(source.status), base::printable(source.id), what,
                      source.kind == "ras" || source.kind == "engine" || source.kind == "member"
                          ? "  " + base::printable(source.asked)
                          : "");
      if (source.reason.empty()) continue;
      for (const std::string& line : report::wrap(source.reason, width - kIndent))
        lines += std::string(kIndent, ' ') + line + "\n";
    }
    std::string text =
        fmt::format("{}: {}, {} bytes{}\n{}", x_output, report::counted(files, "file", "files"), bytes,
                    result.interrupted ? " (interrupted)" : "", lines);
    if (result.anything) text += "next: unhang diagnose " + base::shell_quoted(x_output) + "\n";
    return text;
  }

  std::string x_output;
  std::chrono::nanoseconds x_budget = std::chrono::seconds(25);
  bool x_json = false, x_stream = false;
  FanOutFlags x_fan_out;
  std::vector<std::string> x_ras;
  bool x_no_ras = false;
  std::string x_nccl_version;
  std::vector<std::string> x_engines;
  std::vector<std::string> x_dumps;
  bool x_no_dumps = false;
  std::vector<std::string> x_pids;
  std::string x_match;
  int x_samples = 3;
  std::optional<std::chrono::nanoseconds> x_interval;
  std::string x_instance, x_deployment;
  std::vector<std::string> x_labels;
  std::vector<std::string> x_only, x_without;
  bool x_no_gdb = false, x_trigger = false;
  std::vector<std::string> x_trigger_urls;
  std::string x_proc = "/proc", x_sys = "/sys", x_dev = "/dev";
};

}  // namespace

std::unique_ptr<CommandBase> make_capture_command() {
  return std::make_unique<CaptureCommand>();
}

}  // namespace unhang::cli
