// SPDX-License-Identifier: Apache-2.0
#include "os/nvml.h"

#include <algorithm>
#include <array>

#include <dlfcn.h>

namespace unhang::os {
namespace {

// The part of nvml.h that is used; its binary interface is stable for each versioned name.
using Code = int;
using Device = void*;
constexpr Code kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kTooSmall = 7;
constexpr unsigned kMaxGpus = 256, kMaxProcesses = 256;
constexpr std::size_t kText = 96;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

class Library {
 public:
  explicit Library(const std::string& name) : x_handle(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (x_handle == nullptr) {
      const char* why = ::dlerror();
      x_why = why == nullptr ? name : why;
    }
  }
  // Never closed: it may have started threads.

  bool there() const { return x_handle != nullptr; }
  const std::string& why() const { return x_why; }

  template <class... Arguments>
  Code call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Code (*)(Arguments...)>(::dlsym(x_handle, name));
    return function == nullptr ? kNotSupported : function(arguments...);
  }

  std::string words_of(Code code) const {
    const auto function = reinterpret_cast<const char* (*)(Code)>(::dlsym(x_handle, "nvmlErrorString"));
    const char* words = function == nullptr ? nullptr : function(code);
    return words == nullptr ? "error " + std::to_string(code) : words;
  }

 private:
  void* x_handle;
  std::string x_why;
};

using Text = std::array<char, kText>;

std::string text_of(const char* begin, std::size_t size) {
  return {begin, std::find(begin, begin + size, '\0')};
}
std::string text_of(const Text& text) {
  return text_of(text.data(), text.size());
}

class GpuReader {
 public:
  GpuReader(const Library& library, Device device) : x_library(library), x_device(device) {}

  GpuState read() {
    Text text{};
    if (ask("nvmlDeviceGetName", text.data(), unsigned{kText})) x_gpu.name = text_of(text);
    text = {};
    if (ask("nvmlDeviceGetUUID", text.data(), unsigned{kText})) x_gpu.uuid = text_of(text);
    PciInfo pci{};
    if (ask("nvmlDeviceGetPciInfo_v3", &pci)) x_gpu.bus_id = text_of(pci.bus_id, sizeof pci.bus_id);
    read_load();
    read_clocks();
    read_errors();
    read_processes();
    return std::move(x_gpu);
  }

 private:
  template <class... Arguments>
  bool ask(const char* name, Arguments... arguments) {
    const Code code = x_library.call(name, x_device, arguments...);
    if (code != kSuccess && code != kNotSupported && code != kNoPermission && code != kTooSmall &&
        x_gpu.trouble.empty())
      x_gpu.trouble = x_library.words_of(code);
    return code == kSuccess;
  }

  void read_load() {
    Utilization busy{};
    if (ask("nvmlDeviceGetUtilizationRates", &busy)) {
      x_gpu.busy = busy.gpu;
      x_gpu.memory_busy = busy.memory;
    }
    Memory memory{};
    if (ask("nvmlDeviceGetMemoryInfo", &memory)) {
      x_gpu.memory_bytes = memory.total;
      x_gpu.memory_used_bytes = memory.used;
    }
    unsigned number = 0;
    constexpr int kOfTheGpu = 0;
    if (ask("nvmlDeviceGetTemperature", kOfTheGpu, &number)) x_gpu.temperature = number;
    if (ask("nvmlDeviceGetPowerUsage", &number)) x_gpu.power_mw = number;
    if (ask("nvmlDeviceGetEnforcedPowerLimit", &number)) x_gpu.power_limit_mw = number;
  }

  void read_clocks() {
    constexpr int kSm = 1, kMemory = 2;
    int state = 0;
    unsigned clock = 0;
    unsigned long long reasons = 0;
    if (ask("nvmlDeviceGetPerformanceState", &state)) x_gpu.performance_state = state;
    if (ask("nvmlDeviceGetClockInfo", kSm, &clock)) x_gpu.sm_clock_mhz = clock;
    if (ask("nvmlDeviceGetClockInfo", kMemory, &clock)) x_gpu.memory_clock_mhz = clock;
    if (ask("nvmlDeviceGetCurrentClocksThrottleReasons", &reasons)) x_gpu.throttle_reasons = reasons;
  }

  void read_errors() {
    constexpr int kCorrected = 0, kUncorrected = 1, kVolatile = 0;
    int now = 0, after_reboot = 0;
    unsigned long long count = 0;
    if (ask("nvmlDeviceGetEccMode", &now, &after_reboot)) x_gpu.ecc = now != 0;
    if (ask("nvmlDeviceGetTotalEccErrors", kCorrected, kVolatile, &count)) x_gpu.corrected_errors = count;
    if (ask("nvmlDeviceGetTotalEccErrors", kUncorrected, kVolatile, &count)) x_gpu.uncorrected_errors = count;
  }

  void read_processes() {
    std::array<ProcessInfo, kMaxProcesses> list{};
    unsigned count = kMaxProcesses;
    if (!ask("nvmlDeviceGetComputeRunningProcesses_v3", &count, list.data())) return;
    constexpr auto kNotKnown = ~0ULL;  // without the rights to see it
    for (unsigned i = 0; i < std::min(count, kMaxProcesses); ++i)
      x_gpu.processes.push_back({list[i].pid, list[i].used == kNotKnown ? 0 : list[i].used});
  }

  const Library& x_library;
  Device x_device;
  GpuState x_gpu;
};

}  // namespace

base::Result<NvmlReport> read_nvml(const std::string& name) {
  const Library library(name);
  if (!library.there()) return base::fail(base::ErrorCode::kNoInput, "NVML is not there: " + library.why());
  if (const Code code = library.call("nvmlInit_v2"); code != kSuccess)
    return base::fail(base::ErrorCode::kUnavailable, "Failed to initialize NVML: " + library.words_of(code));
  NvmlReport report;
  Text text{};
  if (library.call("nvmlSystemGetDriverVersion", text.data(), unsigned{kText}) == kSuccess)
    report.driver_version = text_of(text);
  text = {};
  if (library.call("nvmlSystemGetNVMLVersion", text.data(), unsigned{kText}) == kSuccess)
    report.library_version = text_of(text);
  int cuda = 0;
  if (library.call("nvmlSystemGetCudaDriverVersion_v2", &cuda) == kSuccess) report.cuda_version = cuda;
  unsigned count = 0;
  if (const Code code = library.call("nvmlDeviceGetCount_v2", &count); code != kSuccess)
    return base::fail(base::ErrorCode::kUnavailable,
                      "NVML does not count the GPUs: " + library.words_of(code));
  for (unsigned i = 0; i < std::min(count, kMaxGpus); ++i) {
    Device device = nullptr;
    const Code code = library.call("nvmlDeviceGetHandleByIndex_v2", i, &device);
    if (code == kSuccess) {
      report.gpus.push_back(GpuReader(library, device).read());
    } else {
      report.gpus.emplace_back().trouble = library.words_of(code);
    }
  }
  library.call("nvmlShutdown");
  return report;
}

}  // namespace unhang::os
