// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library (NVML) tells of the GPUs, where nvidia-smi is not installed, as in most
// containers. Loaded with dlopen when it is asked for; nothing of it is needed to build or run this program.
//
// A call can hang for ever in a driver that is stuck, where not even SIGKILL reaches it: call this only in a
// process that may be left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace unhang::os {

struct GpuProcess {
  std::uint32_t pid = 0;  // as the driver sees it: of the machine, not of a container
  std::uint64_t used_bytes = 0;
};

// Of one GPU. What the driver or the GPU does not tell is empty; `trouble` names the first call that failed
// for another reason than that it is not supported ("GPU is lost").
struct GpuState {
  std::string name, uuid, bus_id;
  std::optional<int> performance_state;
  std::optional<unsigned> temperature;        // °C
  std::optional<unsigned> busy, memory_busy;  // per cent of the last second
  std::optional<std::uint64_t> memory_bytes, memory_used_bytes;
  std::optional<unsigned> power_mw, power_limit_mw;
  std::optional<unsigned> sm_clock_mhz, memory_clock_mhz;
  std::optional<std::uint64_t> throttle_reasons;  // bits of nvmlClocksThrottleReason…
  std::optional<bool> ecc;
  std::optional<std::uint64_t> corrected_errors, uncorrected_errors;  // since the driver was loaded
  std::vector<GpuProcess> processes;
  std::string trouble;
};

struct NvmlReport {
  std::string driver_version, library_version;
  std::optional<int> cuda_version;  // of the driver: 12040 is 12.4
  std::vector<GpuState> gpus;       // by index
};

// kNoInput where the library is not there; kUnavailable where it does not start, with its own words ("Driver/
// library version mismatch").
base::Result<NvmlReport> read_nvml(const std::string& library = "libnvidia-ml.so.1");

}  // namespace unhang::os
