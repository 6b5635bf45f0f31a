// SPDX-License-Identifier: Apache-2.0
//
// The subjects of kernel messages, each in a file of its own; kernel_family.cc asks them in turn. All of them
// take the line where their sentence stands anywhere in it, since logs are pasted with and without prefixes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/log/facts.h"
#include "formats/log/line.h"

namespace unhang::formats::log {

// Xid, SXid, and what else NVIDIA's driver says. Some of it goes over several lines.
class GpuDriverMessages {
 public:
  bool take(const Line& line, Facts& facts);
  bool open() const { return x_lines_left > 0; }
  void finish(Facts& facts);

 private:
  enum class Waiting : std::uint8_t { kNone, kFallenOff, kModuleVersion };

  bool take_waiting(const Line& line, Facts& facts);
  bool take_new(const Line& line, Facts& facts);
  void wait(Waiting what, const Line& line, std::string_view subject);

  Waiting x_waiting = Waiting::kNone;
  int x_lines_left = 0;
  Line x_first;           // of the record; its views are not used
  std::string x_subject;  // PCI address, or the version of the client
};

// AER, hot plug, and hardware errors that the firmware reports.
class PcieMessages {
 public:
  bool take(const Line& line, Facts& facts);

 private:
  bool take_aer(const Line& line, Facts& facts);
  bool take_firmware_record(const Line& line, Facts& facts);

  // The last "error received": the line with its layers, which follows, tells the same once more.
  std::uint64_t x_received_line = 0;
  std::uint32_t x_received_origin = 0;
  std::string x_received;
  int x_received_severity = -1;
  // Of a "[Hardware Error]" record that is being read.
  int x_firmware_severity = -1;
  bool x_firmware_pcie = false;
};

// Faults of the IOMMU, and whether it translates. That is known only at the end: pass-through is printed
// later than the first signs.
class IommuMessages {
 public:
  bool take(const Line& line, Facts& facts);
  void finish(Facts& facts);

 private:
  struct Sign {
    Line line;  // its views are not used
    std::string text, detail;
  };
  struct Machine {
    bool passes_through = false;
    std::vector<Sign> signs;
  };
  bool take_sign(const Line& line);
  void keep(const Line& line, std::string_view detail);

  std::unordered_map<std::uint32_t, Machine> x_machines;  // by origin
};

// The out-of-memory killer, hung tasks and lockups.
class MemoryAndTaskMessages {
 public:
  bool take(const Line& line, Facts& facts);
  void finish(Facts& facts);

 private:
  struct Invocation {
    Line line;  // its views are not used
    std::string process, text;
    bool cgroup = false;
  };
  bool take_kill(const Line& line, Facts& facts);
  bool take_task(const Line& line, Facts& facts);
  void killed(std::string_view process, std::int64_t pid, std::string_view where, const Line& line,
              Facts& facts);
  void flush(std::uint32_t origin, Facts& facts);

  std::unordered_map<std::uint32_t, Invocation> x_invoked;  // by origin: whose victim is not named yet
  std::unordered_map<std::uint32_t, std::int64_t> x_last_victim;
};

// Links and faults of network adapters.
bool take_network_message(const Line& line, Facts& facts);

}  // namespace unhang::formats::log
