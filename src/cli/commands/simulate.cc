// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "os/expand_paths.h"
#include "os/write_file.h"

namespace unhang::cli {
namespace {

struct Source {
  std::string_view name;
  std::uint8_t bits;
};
constexpr Source kSources[] = {{"fr", simulate::kFlightRecorder},
                               {"ras", simulate::kRas},
                               {"logs", simulate::kLogs},
                               {"kernel", simulate::kKernel},
                               {"all", simulate::kAllSources}};

class SimulateCommand final : public CommandBase {
 public:
  Command describe() override {
    std::vector<std::string> faults;
    for (const auto& fault : simulate::fault_catalogue()) faults.emplace_back(fault.name);
    return {
        .name = "simulate",
        .group = "Learn and practise",
        .summary = "write the evidence of a made-up incident",
        .description =
            "Simulates a training job on the given ranks and writes the Flight Recorder dumps that it would "
            "leave, byte for byte in the recorder's form, with the truth beside them in truth.json. For "
            "drills, tests and benchmarks. The same call gives the same bytes.\n\nWith --sources also what "
            "else a person has of such an incident: two answers of NCCL's RAS service, the logs of NCCL and "
            "PyTorch and the kernel's log of each machine, with hosts, processes and devices that agree.",
        .flags =
            {{.name = "--output",
              .short_name = "-o",
              .value = "DIR",
              .help = "folder to write to; it is made when missing",
              .target = &x_output,
              .is_path = true},
             {.name = "--ranks",
              .value = "N",
              .help = "ranks of the job",
              .target = &x_ranks,
              .minimum = 2,
              .maximum = 1 << 20},
             {.name = "--entries",
              .value = "N",
              .help = "size of each rank's ring",
              .target = &x_entries,
              .minimum = 1,
              .maximum = 1 << 24},
             {.name = "--groups",
              .value = "LIST",
              .help =
                  "parallel groups beside the world: tp, pp, dp, each with or without a size (tp=8,pp=2,dp)",
              .target = &x_groups},
             {.name = "--fault",
              .value = "KIND",
              .help = "what goes wrong (see --list-faults)",
              .target = &x_fault,
              .choices = faults},
             {.name = "--culprit",
              .value = "RANK",
              .help = "the rank at fault (default: by the seed)",
              .target = &x_culprit,
              .minimum = 0,
              .maximum = 1 << 20},
             {.name = "--seed",
              .value = "N",
              .help = "another seed is another job of the same kind",
              .target = &x_seed,
              .minimum = 0},
             {.name = "--frames",
              .value = "N",
              .help = "stack frames of each operation",
              .target = &x_frames,
              .minimum = 0,
              .maximum = 256},
             {.name = "--format",
              .value = "FORM",
              .help = "pickle or json",
              .target = &x_format,
              .choices = {"pickle", "json"}},
             {.name = "--backend",
              .value = "NAME",
              .help = "nccl or gloo",
              .target = &x_backend,
              .choices = {"nccl", "gloo"}},
             {.name = "--only-active",
              .help = "leave finished operations out, as TORCH_INCLUDE_ONLY_ACTIVE does",
              .target = &x_only_active},
             {.name = "--timing",
              .help = "with durations, as TORCH_NCCL_ENABLE_TIMING=1 does",
              .target = &x_timing},
             {.name = "--sources",
              .value = "LIST",
              .help = "evidence to write: fr (dumps), ras, logs, kernel, or all",
              .target = &x_sources},
             {.name = "--hosts",
              .value = "N",
              .help = "machines that the ranks are on (0: eight ranks on each)",
              .target = &x_hosts,
              .minimum = 0,
              .maximum = 1 << 20},
             {.name = "--skew",
              .value = "TIME",
              .help = "clocks of machines are wrong by up to this, in all that they write",
              .target = &x_skew},
             {.name = "--missing",
              .help = "lose some of the evidence; truth.json lists what",
              .target = &x_missing},
             {.name = "--list-faults",
              .help = "print the kinds of faults and end",
              .target = &x_list_faults}},
        .examples = {{"unhang simulate --ranks 16 --groups tp,dp --fault rank_not_entered -o drill",
                      "A drill: then `unhang diagnose drill`."},
                     {"unhang simulate --fault gpu_xid --sources all --hosts 2 --skew 2s -o job",
                      "Dumps, RAS answers, logs and kernel logs of two machines whose clocks differ."},
                     {"unhang simulate --list-faults", "What can go wrong."}}};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    if (x_list_faults) return list_faults(streams);
    if (x_output.empty())
      return complain(streams, {base::ErrorCode::kUsage, "where to? Give a folder with -o DIR"});
    simulate::Plan plan = make_plan();
    if (const auto chosen = choose_sources(plan); !chosen) return complain(streams, chosen.error());
    if (const auto sized = size_groups(plan); !sized) return complain(streams, sized.error());
    if (const auto made = os::make_folder(x_output); !made) return complain(streams, made.error());
    if (os::expand_paths({x_output})) {
      return complain(streams,
                      {base::ErrorCode::kUsage,
                       "there are files in " + x_output +
                           " already; give an empty folder, or the old dumps would mix with the new ones"});
    }
    std::set<std::string> folders;
    const auto write = [&](std::string_view name, std::string_view bytes) -> base::Result<> {
      if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
        const std::string folder = x_output + "/" + std::string(name.substr(0, slash));
        if (folders.insert(folder).second) {
          if (auto made = os::make_folder(folder); !made) return made;
        }
      }
      return os::write_file(x_output + "/" + std::string(name), bytes);
    };
    const auto truth = simulate::simulate(plan, write);
    if (!truth) return complain(streams, truth.error());
    streams.err.write(
        fmt::format("wrote {} ({}); the truth is in {}/truth.json\nnow try: unhang diagnose {}\n", x_output,
                    truth->description, x_output, x_output));
    return kExitOk;
  }

 private:
  static int list_faults(Streams& streams) {
    std::string text;
    for (const auto& fault : simulate::fault_catalogue())
      text += fmt::format("{:<22}{}\n", fault.name, fault.description);
    streams.out.write(text);
    return kExitOk;
  }

  simulate::Plan make_plan() const {
    simulate::Plan plan;
    plan.ranks = x_ranks;
    plan.entries = x_entries;
    plan.frames = x_frames;
    plan.fault = *simulate::parse_fault(x_fault);
    plan.culprit = x_culprit;
    plan.seed = static_cast<std::uint64_t>(x_seed);
    plan.only_active = x_only_active;
    plan.timing = x_timing;
    plan.format = x_format == "json" ? simulate::DumpFormat::kJson : simulate::DumpFormat::kPickle;
    plan.backend = x_backend;
    plan.hosts = x_hosts;
    plan.skew_ns = x_skew.count();
    plan.missing = x_missing;
    return plan;
  }

  // "fr,ras,logs,kernel", "all".
  base::Result<> choose_sources(simulate::Plan& plan) const {
    plan.sources = 0;
    std::string_view rest = x_sources;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const auto known = std::find_if(std::begin(kSources), std::end(kSources),
                                      [&](const Source& each) { return each.name == name; });
      if (known == std::end(kSources)) {
        return base::fail(base::ErrorCode::kUsage,
                          fmt::format("--sources: '{}' is none of fr, ras, logs, kernel, all", name));
      }
      plan.sources |= known->bits;
    }
    if (plan.sources == 0)
      return base::fail(base::ErrorCode::kUsage, "--sources: give at least one of fr, ras, logs, kernel");
    return {};
  }

  // "tp=4,pp,dp": a group without a size gets the largest usual one that divides what is left; dp is what
  // remains.
  base::Result<> size_groups(simulate::Plan& plan) const {
    std::int32_t left = plan.ranks;
    std::string_view rest = x_groups;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
      const std::string_view name = item.substr(0, item.find('='));
      std::int32_t size = 0;
      if (name.size() < item.size()) {
        const std::string_view number = item.substr(name.size() + 1);
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), size);
        if (error != std::errc{} || end != number.data() + number.size() || size < 1) {
          return base::fail(base::ErrorCode::kUsage,
                            fmt::format("--groups: the size of '{}' is no number", item));
        }
      }
      if (name == "dp") continue;
      if (name != "tp" && name != "pp") {
        return base::fail(base::ErrorCode::kUsage, fmt::format("--groups: '{}' is none of tp, pp, dp", name));
      }
      if ((name == "tp" ? plan.tp : plan.pp) != 1) {
        return base::fail(base::ErrorCode::kUsage, fmt::format("--groups: {} is given twice", name));
      }
      if (size == 0) size = usual_size(left, name == "tp" ? 8 : 2);
      if (left % size != 0) {
        return base::fail(
            base::ErrorCode::kUsage,
            fmt::format("--groups: {} of {} does not divide the {} ranks that are left", name, size, left));
      }
      left /= size;
      (name == "tp" ? plan.tp : plan.pp) = size;
    }
    return {};
  }

  // At most `most`, and at least two ranks must be left for the other groups.
  static std::int32_t usual_size(std::int32_t left, std::int32_t most) {
    for (std::int32_t size = most; size > 1; size /= 2) {
      if (left % size == 0 && left / size > 1) return size;
    }
    return 1;
  }

  std::string x_output;
  int x_ranks = 8;
  int x_entries = 2000;
  std::string x_groups;
  std::string x_fault = "rank_not_entered";
  std::optional<int> x_culprit;
  std::int64_t x_seed = 1;
  int x_frames = 4;
  std::string x_format = "pickle";
  std::string x_backend = "nccl";
  bool x_only_active = false;
  bool x_timing = false;
  std::string x_sources = "fr";
  int x_hosts = 0;
  std::chrono::nanoseconds x_skew{0};
  bool x_missing = false;
  bool x_list_faults = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_simulate_command() {
  return std::make_unique<SimulateCommand>();
}

}  // namespace unhang::cli
