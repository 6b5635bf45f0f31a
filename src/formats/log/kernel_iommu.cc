// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "formats/log/kernel_messages.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kMachines = 1024;
constexpr std::size_t kSigns = 8;

bool add_fault(std::string_view subject, const Line& line, Facts& facts) {
  LogEvent event;
  event.kind = LogEventKind::kIommuFault;
  event.subject = shown(subject);
  facts.add(std::move(event), line);
  return true;
}

// "Request device [61:00.0]", since 5.16 "[0x61:0x00.0]" on some platforms.
std::string requester(std::string_view text) {
  const auto bracket = behind(text, "Request device [");
  if (!bracket) return {};
  std::string out;
  for (std::string_view rest = up_to(*bracket, "]"); !rest.empty();) {
    if (rest.starts_with("0x")) rest.remove_prefix(2);
    if (rest.empty()) break;
    out += rest.front();
    rest.remove_prefix(1);
  }
  return std::string(pci_address(out));
}

bool take_fault(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "DMAR") && has(text, "Request device [")) return add_fault(requester(text), line, facts);
  if (const auto event = behind(text, "AMD-Vi: Event logged [")) {
    // The device stands in the event, or the driver's name and address in front.
    std::string_view device = pci_address(*event);
    if (device.empty()) device = pci_address(before(text, "AMD-Vi"));
    return add_fault(device, line, facts);
  }
  if (has(text, "AMD-Vi: Completion-Wait loop timed out")) return add_fault({}, line, facts);
  if (const auto smmu = behind(text, "arm-smmu-v3")) {
    if (has(*smmu, "F_TRANSLATION") || has(*smmu, "F_PERMISSION") || has(*smmu, "event 0x10 received")) {
      const auto client = behind(*smmu, "client: ");
      return add_fault(client ? pci_address(*client) : std::string_view(), line, facts);
    }
  }
  return false;
}

bool is_command_line(std::string_view text) {
  return has(text, "ommand line:") || has(text, "BOOT_IMAGE=") || has(text, "initrd=");
}

}  // namespace

void IommuMessages::keep(const Line& line, std::string_view detail) {
  if (x_machines.size() >= kMachines && x_machines.count(line.origin) == 0) return;
  std::vector<Sign>& signs = x_machines[line.origin].signs;
  if (signs.size() >= kSigns) return;
  const bool known =
      std::any_of(signs.begin(), signs.end(), [&](const Sign& s) { return s.detail == detail; });
  if (known) return;
  Sign sign{line, shown(line.message), std::string(detail)};
  sign.line.whole = sign.line.message = sign.line.source_file = {};
  signs.push_back(std::move(sign));
}

bool IommuMessages::take(const Line& line, Facts& facts) {
  return take_fault(line, facts) || take_sign(line);
}

bool IommuMessages::take_sign(const Line& line) {
  const std::string_view text = line.message;
  const auto passes_through = [&] {
    if (x_machines.size() < kMachines || x_machines.count(line.origin) > 0) {
      x_machines[line.origin].passes_through = true;
    }
    return true;
  };
  if (const auto type = behind(text, "iommu: Default domain type: ")) {
    if (type->starts_with("Passthrough")) return passes_through();
    if (!type->starts_with("Translated")) return false;
    keep(line, "Default domain type: Translated");
    return true;
  }
  if (has(text, "Initialized for Passthrough Mode") || has(text, "Hardware identity mapping")) {
    return passes_through();
  }
  if (has(text, "DMAR: IOMMU enabled")) {
    keep(line, "DMAR: IOMMU enabled");
    return true;
  }
  if (has(text, "AMD-Vi: Found IOMMU")) {
    keep(line, "AMD-Vi: Found IOMMU");
    return true;
  }
  if (!is_command_line(text)) return false;
  bool on = false;
  bool told = false;
  for (const std::string_view word : words_of(text, 512)) {
    const std::string_view option = first_word(up_to(word, "\"'"));
    if (option == "iommu=pt" || option == "iommu.passthrough=1" || option == "iommu=off" ||
        option == "intel_iommu=off" || option == "amd_iommu=off") {
      return passes_through();
    }
    if (option.starts_with("intel_iommu=on") || option.starts_with("amd_iommu=on") ||
        option == "iommu=force" || option == "iommu.passthrough=0") {
      on = true;
    }
    told = told || has(option, "iommu");
  }
  if (on) keep(line, "kernel command line");
  return told;
}

void IommuMessages::finish(Facts& facts) {
  const std::map<std::uint32_t, Machine> sorted(x_machines.begin(), x_machines.end());
  for (const auto& [origin, machine] : sorted) {
    if (machine.passes_through) continue;
    for (const Sign& sign : machine.signs) {
      LogEvent event;
      event.kind = LogEventKind::kIommuEnabled;
      event.text = sign.text;
      event.detail = sign.detail;
      facts.add(std::move(event), sign.line);
    }
  }
  x_machines.clear();
}

}  // namespace unhang::formats::log
