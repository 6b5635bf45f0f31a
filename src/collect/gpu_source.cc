// SPDX-License-Identifier: Apache-2.0
#include "collect/gpu_source.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "os/child_reader.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::seconds kLongestAnswer{8};
constexpr std::size_t kMaxGpus = 256;

// Columns that all drivers since 2018 know: one that is not known makes nvidia-smi refuse all of them.
constexpr std::string_view kColumns =
    "--query-gpu=index,name,uuid,pci.bus_id,driver_version,pstate,temperature.gpu,utilization.gpu,"
    "utilization.memory,memory.total,memory.used,power.draw,power.limit,clocks.sm,clocks.mem,"
    "clocks_throttle_reasons.active,ecc.mode.current,ecc.errors.corrected.volatile.total,"
    "ecc.errors.uncorrected.volatile.total,pcie.link.gen.current,pcie.link.width.current,persistence_mode,"
    "compute_mode,mig.mode.current";

// Where it does refuse: what every release has.
constexpr std::string_view kFewColumns =
    "--query-gpu=index,name,uuid,pci.bus_id,driver_version,utilization.gpu,memory.total,memory.used,power."
    "draw,"
    "power.limit";

struct Question {
  std::vector<std::string> words;
  std::string_view name;
};

const std::vector<Question>& questions() {
  static const std::vector<Question> all{
      {{"nvidia-smi", std::string(kColumns), "--format=csv"}, "nvidia-smi-query.csv"},
      {{"nvidia-smi", "--query-compute-apps=gpu_uuid,pid,used_memory", "--format=csv"},
       "nvidia-smi-processes.csv"},
      {{"nvidia-smi", "topo", "-m"}, "nvidia-smi-topo.txt"},
      {{"nvidia-smi", "nvlink", "-s"}, "nvidia-smi-nvlink.txt"},
      {{"nvidia-smi", "-q"}, "nvidia-smi-q.txt"}};
  return all;
}

class GpuAsker {
 public:
  GpuAsker(const GpuPlace& place, CaptureNames& names, CaptureContext& context)
      : x_place(place), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    keep_driver();
    const bool has_program = is_installed(x_place.programs, questions().front().words.front());
    if (!has_program && x_tally.kept() == 0 && !has_device())
      return x_tally.outcome("there is no NVIDIA driver here and no nvidia-smi");
    if (has_program) {
      ask_all();
    } else {
      x_tally.note("nvidia-smi: not installed");
    }
    if (!x_place.nvml_words.empty() && !x_hangs) {
      run_and_keep(x_place.programs, {.words = x_place.nvml_words, .called = "NVML", .limit = kLongestAnswer},
                   "gpu", "nvml.csv", x_names, x_tally);
    }
    return x_tally.outcome({});
  }

 private:
  // Of the driver; the second one is that of Windows' Linux.
  bool has_device() const {
    std::error_code ignored;
    return std::filesystem::exists(x_place.dev + "/nvidiactl", ignored) ||
           std::filesystem::exists(x_place.dev + "/dxg", ignored);
  }

  void ask_all() {
    for (const Question& question : questions()) {
      if (x_tally.context().stopping()) return;
      const auto began = std::chrono::steady_clock::now();
      const bool well = run_and_keep(x_place.programs, {.words = question.words, .limit = kLongestAnswer},
                                     "gpu", question.name, x_names, x_tally);
      if (!well && std::chrono::steady_clock::now() - began >= kLongestAnswer) {
        x_hangs = true;
        x_tally.no_answer("the driver does not answer; nothing more was asked of it");
        return;
      }
      if (!well && &question == &questions().front())
        run_and_keep(
            x_place.programs,
            {.words = {"nvidia-smi", std::string(kFewColumns), "--format=csv"}, .limit = kLongestAnswer},
            "gpu", question.name, x_names, x_tally);
    }
  }

  std::vector<os::ReadReply> read(const std::vector<os::ReadRequest>& requests) const {
    return os::read_in_child(requests, x_tally.read_deadlines());
  }

  // The version of the kernel's module, and which device has which UUID and minor number.
  void keep_driver() {
    const std::string folder = x_place.proc + "/driver/nvidia";
    const auto listed =
        read({{.kind = os::ReadKind::kFolder, .path = folder + "/gpus", .max_bytes = 64 << 10}}).front();
    std::vector<os::ReadRequest> files{{.path = folder + "/version", .max_bytes = 64 << 10}};
    for (std::string_view rest = listed.bytes; !rest.empty() && files.size() <= kMaxGpus;) {
      const std::size_t end = std::min(rest.find('\0'), rest.size());
      files.push_back({.path = folder + "/gpus/" + std::string(rest.substr(0, end)) + "/information",
                       .max_bytes = 64 << 10});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::sort(files.begin() + 1, files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    std::string text;
    const auto replies = read(files);
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].usable() && !replies[i].bytes.empty()) {
        text += "==> " + files[i].path + " <==\n" + replies[i].bytes + "\n";
      } else if (replies[i].error != ENOENT) {
        x_tally.not_readable(files[i].path, replies[i]);
      }
    }
    if (text.empty()) return;
    model::BundleFile facts;
    facts.captured_ns = x_tally.context().wall_ns();
    facts.path = x_names.next("gpu", facts.captured_ns, "driver", ".txt");
    facts.note = "what the kernel's module says of itself";
    x_tally.keep(without_secrets_in_text(text), std::move(facts));
  }

  const GpuPlace& x_place;
  CaptureNames& x_names;
  SourceTally x_tally;
  bool x_hangs = false;
};

}  // namespace

CaptureSource gpu_source(std::string id, GpuPlace place, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "gpu";
  source.asked_kind = "search";
  source.asked = place.nvml_words.empty() ? "the driver and nvidia-smi" : "the driver, nvidia-smi and NVML";
  source.run = [place = std::move(place), names = std::move(names)](CaptureContext& context) {
    return GpuAsker(place, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
