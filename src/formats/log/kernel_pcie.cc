// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "formats/log/kernel_messages.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::uint64_t kLinesToDetails = 4;

enum : int { kUnknown = -1, kCorrected = 0, kNonfatal = 1, kFatal = 2 };

// Kernels before and after 6.10 say Corrected and Correctable, Uncorrected and Uncorrectable.
int severity_in(std::string_view text) {
  if (has(text, "Uncorrect")) return has(text, "(Fatal)") ? kFatal : kNonfatal;
  if (has(text, "Corrected") || has(text, "Correctable")) return kCorrected;
  return kUnknown;
}

void add(int severity, std::string_view subject, const Line& line, Facts& facts) {
  LogEvent event;
  event.kind = severity == kCorrected ? LogEventKind::kPcieCorrected : LogEventKind::kPcieError;
  event.code = severity == kFatal ? 1 : 0;
  event.subject = shown(subject);
  facts.add(std::move(event), line);
}

bool take_hot_plug(const Line& line, Facts& facts) {
  const auto slot = behind(line.message, "Slot(");
  if (!slot) return false;
  if (!has(*slot, "Link Down") && !has(*slot, "Card not present")) return false;
  const std::string_view port = pci_address(before(line.message, "Slot("));
  LogEvent event;
  event.kind = LogEventKind::kPcieLinkDown;
  event.subject = port.empty() ? shown("Slot(" + std::string(up_to(*slot, ")")) + ")") : std::string(port);
  facts.add(std::move(event), line);
  return true;
}

// Host memory and processors: only what could not be corrected.
bool take_memory_error(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  LogEvent event;
  event.kind = LogEventKind::kHostMemoryError;
  if (const auto edac = behind(text, "EDAC ")) {
    if (!has(*edac, " UE ") && !has(*edac, "ncorrected error") && !has(*edac, "ncorrectable error"))
      return false;
    event.peer = shown(up_to(*edac, ": "));
  } else if (!has(text, "Machine Check Exception")) {
    return false;
  }
  facts.add(std::move(event), line);
  return true;
}

}  // namespace

bool PcieMessages::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "pciehp")) return take_hot_plug(line, facts);
  if (has(text, "[Hardware Error]") && take_firmware_record(line, facts)) return true;
  if (has(text, "EDAC ") || has(text, "Machine Check")) return take_memory_error(line, facts);
  if (has(text, "DPC: containment event")) {
    add(kFatal, pci_address(text), line, facts);
    return true;
  }
  return take_aer(line, facts);
}

bool PcieMessages::take_aer(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto layers = behind(text, "PCIe Bus Error: severity=")) {
    const int severity = severity_in(up_to(*layers, ","));
    if (severity == kUnknown) return false;
    const std::string_view device = pci_address(before(text, "PCIe Bus Error"));
    const bool told = x_received_severity == severity && x_received == device &&
                      x_received_origin == line.origin && line.number - x_received_line <= kLinesToDetails;
    x_received_severity = kUnknown;
    if (!told) add(severity, device, line, facts);
    return true;
  }
  const auto aer = behind(text, "AER: ");
  if (!aer) return false;
  // "Corrected error received: 0000:b3:00.0", "Multiple Uncorrected (Fatal) error received: …", and from 6.10
  // on "Correctable error message received from 0000:b3:00.0". Before 4.20 only "id=00e0".
  const auto received = behind(*aer, " received");
  if (!received || !has(*aer, "error")) return false;
  const int severity = severity_in(before(*aer, " received"));
  if (severity == kUnknown) return false;
  const std::string_view device = pci_address(*received);
  if (device.empty()) return true;  // the next line has the address
  x_received = device;
  x_received_severity = severity;
  x_received_line = line.number;
  x_received_origin = line.origin;
  add(severity, device, line, facts);
  return true;
}

// APEI: "{1}[Hardware Error]: event severity: fatal", "section_type: PCIe error", "device_id: 0000:3a:00.0".
bool PcieMessages::take_firmware_record(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto severity = behind(text, "event severity: ")) {
    const std::string_view word = trimmed(*severity);
    x_firmware_severity = word == "fatal" ? kFatal : word == "recoverable" ? kNonfatal : kCorrected;
    x_firmware_pcie = false;
    return true;
  }
  if (const auto section = behind(text, "section_type: ")) {
    x_firmware_pcie = has(*section, "PCIe");
    return x_firmware_pcie;
  }
  const auto device = behind(text, "device_id: ");
  if (!device || !x_firmware_pcie || x_firmware_severity == kUnknown) return false;
  add(x_firmware_severity, pci_address(*device), line, facts);
  x_firmware_pcie = false;
  return true;
}

}  // namespace unhang::formats::log
