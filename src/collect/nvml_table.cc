// SPDX-License-Identifier: Apache-2.0
#include "collect/nvml_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace unhang::collect {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

// A comma would begin another cell.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  return text.empty() ? "[N/A]" : text;
}

template <class Value>
std::string number(const std::optional<Value>& value, std::string_view unit = {}) {
  return value ? fmt::format("{}{}", *value, unit) : "[N/A]";
}
std::string mebibytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? fmt::format("{} MiB", *bytes / kMebibyte) : "[N/A]";
}
std::string watts(const std::optional<unsigned>& milliwatts) {
  return milliwatts ? fmt::format("{:.2f} W", *milliwatts / 1000.0) : "[N/A]";
}

}  // namespace

std::string nvml_table(const os::NvmlReport& report) {
  std::string text =
      "index, name, uuid, pci.bus_id, driver_version, pstate, temperature.gpu, utilization.gpu [%], "
      "utilization.memory [%], memory.total [MiB], memory.used [MiB], power.draw [W], power.limit [W], "
      "clocks.current.sm [MHz], clocks.current.memory [MHz], clocks_throttle_reasons.active, "
      "ecc.mode.current, "
      "ecc.errors.corrected.volatile.total, ecc.errors.uncorrected.volatile.total\n";
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    const os::GpuState& gpu = report.gpus[i];
    text += fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}\n", i,
                        cell(gpu.name), cell(gpu.uuid), cell(gpu.bus_id), cell(report.driver_version),
                        gpu.performance_state ? fmt::format("P{}", *gpu.performance_state) : "[N/A]",
                        number(gpu.temperature), number(gpu.busy, " %"), number(gpu.memory_busy, " %"),
                        mebibytes(gpu.memory_bytes), mebibytes(gpu.memory_used_bytes), watts(gpu.power_mw),
                        watts(gpu.power_limit_mw), number(gpu.sm_clock_mhz, " MHz"),
                        number(gpu.memory_clock_mhz, " MHz"),
                        gpu.throttle_reasons ? fmt::format("0x{:016x}", *gpu.throttle_reasons) : "[N/A]",
                        gpu.ecc ? (*gpu.ecc ? "Enabled" : "Disabled") : "[N/A]", number(gpu.corrected_errors),
                        number(gpu.uncorrected_errors));
  }
  text += "\ngpu_uuid, pid, used_gpu_memory [MiB]\n";
  for (const os::GpuState& gpu : report.gpus) {
    for (const os::GpuProcess& process : gpu.processes)
      text += fmt::format("{}, {}, {}\n", cell(gpu.uuid), process.pid, mebibytes(process.used_bytes));
  }
  text += fmt::format("\nNVML {}, driver {}", cell(report.library_version), cell(report.driver_version));
  if (report.cuda_version)
    text += fmt::format(", CUDA {}.{}", *report.cuda_version / 1000, *report.cuda_version % 1000 / 10);
  text += "\n";
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    if (!report.gpus[i].trouble.empty())
      text += fmt::format("GPU {} {}: {}\n", i, cell(report.gpus[i].bus_id), report.gpus[i].trouble);
  }
  return text;
}

}  // namespace unhang::collect
