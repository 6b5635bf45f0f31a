// SPDX-License-Identifier: Apache-2.0
//
// For tests: a library with the names of NVML and two GPUs, of which the second one is lost. What it says is
// steered by the variable FAKE_NVML: "mismatch" (does not start), "hang".
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace {

constexpr int kLost = 15, kMismatch = 18, kNotSupported = 3;
int g_gpus[2];

int index_of(void* device) {
  return device == &g_gpus[1] ? 1 : 0;
}
int say(char* to, unsigned size, const char* text) {
  if (std::strlen(text) >= size) return 7;
  std::strcpy(to, text);
  return 0;
}
template <class Number>
int give(void* device, Number* to, Number value) {
  if (index_of(device) == 1) return kLost;
  *to = value;
  return 0;
}
std::string_view mode() {
  const char* value = std::getenv("FAKE_NVML");
  return value == nullptr ? "" : value;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  while (mode() == "hang") ::sleep(1);
  return mode() == "mismatch" ? kMismatch : 0;
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int code) {
  if (code == kLost) return "GPU is lost";
  return code == kMismatch ? "Driver/library version mismatch" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* to, unsigned size) {
  return say(to, size, "550.54.15");
}
int nvmlSystemGetNVMLVersion(char* to, unsigned size) {
  return say(to, size, "12.550.54.15");
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &g_gpus[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* to, unsigned size) {
  return say(to, size, "NVIDIA H100 80GB HBM3");
}
int nvmlDeviceGetUUID(void* device, char* to, unsigned size) {
  return say(to, size,
             index_of(device) == 0 ? "GPU-00000000-1111-2222-3333-444444444444"
                                   : "GPU-55555555-1111-2222-3333-444444444444");
}
struct PciInfo {
  char legacy[16];
  unsigned numbers[5];
  char bus_id[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  return say(pci->bus_id, sizeof pci->bus_id,
             index_of(device) == 0 ? "00000000:1B:00.0" : "00000000:43:00.0");
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* to) {
  if (index_of(device) == 1) return kLost;
  to[0] = 100;
  to[1] = 3;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* to) {
  if (index_of(device) == 1) return kLost;
  to[0] = 85520809984;
  to[1] = 1;
  to[2] = 1073741824;
  return 0;
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* to) {
  return give(device, to, 41U);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* to) {
  return give(device, to, 112350U);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* to) {
  return give(device, to, 700000U);
}
int nvmlDeviceGetPerformanceState(void* device, int* to) {
  return give(device, to, 0);
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* to) {
  return give(device, to, type == 1 ? 1980U : 2619U);
}
int nvmlDeviceGetEccMode(void* device, int* now, int* later) {
  *later = 1;
  return give(device, now, 1);
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int, unsigned long long* to) {
  return give(device, to, type == 0 ? 5ULL : 0ULL);
}
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned instances[2];
};
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* list) {
  if (index_of(device) == 1) return kNotSupported;
  *count = 1;
  list[0] = {4711, 536870912, {0, 0}};
  return 0;
}

}  // extern "C"
