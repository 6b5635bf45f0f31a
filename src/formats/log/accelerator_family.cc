// SPDX-License-Identifier: Apache-2.0
//
// Errors of a device that programs print in the words of the driver: names of CUDA's driver interface
// ("CUDA_ERROR_CONTAINED: …"), and what ROCm's runtime says of a GPU.
#include <array>

#include "formats/log/families.h"
#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::string_view kCudaPrefix = "CUDA_ERROR_";

struct Row {
  std::string_view name;
  std::int64_t number;  // CUresult of cuda.h
  LogEventKind kind = LogEventKind::kCudaError;
};

constexpr Row kRows[] = {
    {"INVALID_VALUE", 1},
    {"OUT_OF_MEMORY", 2, LogEventKind::kCudaOutOfMemory},
    {"NOT_INITIALIZED", 3},
    {"DEVICE_UNAVAILABLE", 46, LogEventKind::kDeviceUnavailable},
    {"NO_DEVICE", 100, LogEventKind::kDeviceUnavailable},
    {"INVALID_DEVICE", 101},
    {"ECC_UNCORRECTABLE", 214},
    {"PEER_ACCESS_UNSUPPORTED", 217},
    {"NVLINK_UNCORRECTABLE", 220},
    {"NOT_PERMITTED", 800},
    {"ILLEGAL_ADDRESS", 700},
    {"LAUNCH_TIMEOUT", 702},
    {"ASSERT", 710},
    {"TOO_MANY_PEERS", 711},
    {"HARDWARE_STACK_ERROR", 714},
    {"ILLEGAL_INSTRUCTION", 715},
    {"MISALIGNED_ADDRESS", 716},
    {"LAUNCH_FAILED", 719},
    {"CONTAINED", 721},
    {"SYSTEM_NOT_READY", 802},
    {"SYSTEM_DRIVER_MISMATCH", 803, LogEventKind::kDriverMismatch},
    {"COMPAT_NOT_SUPPORTED_ON_DEVICE", 804, LogEventKind::kDriverMismatch},
    {"UNKNOWN", 999},
};

bool of_name(char c) {
  return (c >= 'A' && c <= 'Z') || c == '_';
}

bool take_cuda_name(const Line& line, Facts& facts) {
  const std::size_t at = line.message.find(kCudaPrefix);
  if (at == std::string_view::npos) return false;
  std::string_view name = line.message.substr(at + kCudaPrefix.size());
  std::size_t end = 0;
  while (end < name.size() && of_name(name[end])) ++end;
  name = name.substr(0, end);
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    facts.add(event_of(row.kind, row.number, -1, std::string(kCudaPrefix) + std::string(name)), line);
    return true;
  }
  return false;
}

// "HW Exception by GPU node-9 (Agent handle: 0x…) reason :GPU Hang"; "Memory access fault by GPU node-1 (…)
// on address 0x…": ROCm's runtime (runtime.cpp of ROCR).
bool take_rocm(const Line& line, Facts& facts) {
  if (has(line.message, "HW Exception by GPU node-")) {
    facts.add(event_of(LogEventKind::kEccError, 0, -1, "hardware exception: the GPU hangs"), line);
    return true;
  }
  if (has(line.message, "Memory access fault by GPU node-")) {
    facts.add(event_of(LogEventKind::kCudaError, 700, -1, "memory access fault"), line);
    return true;
  }
  return false;
}

class AcceleratorFamily final : public Family {
 public:
  std::span<const std::string_view> triggers() const override {
    static constexpr std::array<std::string_view, 2> kTriggers{kCudaPrefix, " by GPU node-"};
    return kTriggers;
  }
  bool take(const Line& line, Facts& facts) override {
    return take_cuda_name(line, facts) || take_rocm(line, facts);
  }
};

}  // namespace

std::unique_ptr<Family> accelerator_family() {
  return std::make_unique<AcceleratorFamily>();
}

}  // namespace unhang::formats::log
