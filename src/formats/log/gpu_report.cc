// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "formats/log/device_reports.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr int kLinesBetweenFields = 200;
constexpr int kLinesOfFragment = 6;
constexpr std::size_t kDeep = 16;

struct Known {
  std::string_view section, key, name;  // an empty section: directly under the GPU
};

// The names of --query-gpu, where it has the field.
constexpr std::array kKnown{
    Known{"", "Product Name", "name"},
    Known{"", "GPU UUID", "uuid"},
    Known{"", "VBIOS Version", "vbios_version"},
    Known{"", "Persistence Mode", "persistence_mode"},
    Known{"", "Compute Mode", "compute_mode"},
    Known{"", "Addressing Mode", "addressing_mode"},
    Known{"", "Performance State", "pstate"},
    Known{"", "GPU Recovery Action", "gpu_recovery_action"},
    Known{"", "GSP Firmware Version", "gsp_firmware_version"},
    Known{"MIG Mode", "Current", "mig.mode.current"},
    Known{"Ecc Mode", "Current", "ecc.mode.current"},
    Known{"ECC Mode", "Current", "ecc.mode.current"},
    Known{"PCI", "Bus Id", "pci.bus_id"},
    Known{"PCIe Generation", "Current", "pcie.link.gen.current"},
    Known{"PCIe Generation", "Max", "pcie.link.gen.max"},
    Known{"Link Width", "Current", "pcie.link.width.current"},
    Known{"Link Width", "Max", "pcie.link.width.max"},
    Known{"FB Memory Usage", "Total", "memory.total"},
    Known{"FB Memory Usage", "Used", "memory.used"},
    Known{"Utilization", "Gpu", "utilization.gpu"},
    Known{"Utilization", "GPU", "utilization.gpu"},
    Known{"Temperature", "GPU Current Temp", "temperature.gpu"},
    Known{"Power Readings", "Power Draw", "power.draw"},
    Known{"Power Readings", "Power Limit", "power.limit"},
    Known{"GPU Power Readings", "Power Draw", "power.draw"},
    Known{"GPU Power Readings", "Average Power Draw", "power.draw"},
    Known{"GPU Power Readings", "Instantaneous Power Draw", "power.draw.instant"},
    Known{"GPU Power Readings", "Current Power Limit", "power.limit"},
    Known{"Clocks", "SM", "clocks.current.sm"},
    Known{"Max Clocks", "SM", "clocks.max.sm"},
    Known{"Remapped Rows", "Correctable Error", "remapped_rows.correctable"},
    Known{"Remapped Rows", "Uncorrectable Error", "remapped_rows.uncorrectable"},
    Known{"Remapped Rows", "Pending", "remapped_rows.pending"},
    Known{"Remapped Rows", "Remapping Failure Occurred", "remapped_rows.failure"},
    Known{"Fabric", "State", "fabric.state"},
    Known{"Fabric", "Status", "fabric.status"},
    Known{"Fabric", "CliqueId", "fabric.clique_id"},
    Known{"Fabric", "ClusterUUID", "fabric.cluster_uuid"},
};

// nvml.h, nvmlDeviceGpuRecoveryAction_t.
constexpr std::array<std::string_view, 5> kActions{"None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"};

// Power and idleness cap clocks in normal life; these do not.
constexpr std::array<std::string_view, 4> kSlowdowns{"HW Slowdown", "HW Thermal Slowdown",
                                                     "HW Power Brake Slowdown", "SW Thermal Slowdown"};

// Blanks in front, also those that a prefix reader has taken off.
std::size_t indentation(const Line& line) {
  const std::string_view text = line.message;
  std::size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  const std::less_equal<const char*> not_behind;
  const bool inside = not_behind(line.whole.data(), text.data()) &&
                      not_behind(text.data(), line.whole.data() + line.whole.size());
  if (inside) {
    for (const char* at = text.data(); at != line.whole.data() && (at[-1] == ' ' || at[-1] == '\t'); --at)
      ++blanks;
  }
  return blanks;
}

}  // namespace

std::string GpuReport::subject() const {
  if (!x_gpu) return {};
  for (const auto& [name, value] : x_gpu->fields) {
    if (name == "pci.bus_id") return value;
  }
  return {};
}

bool GpuReport::take(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  const std::size_t depth = indentation(line);
  if (has(text, "NVSMI LOG")) {
    close(facts);
    x_driver.clear();
    x_lines_left = kLinesBetweenFields;
    return true;
  }
  if (text.starts_with("GPU 0000") && pci_address(text) == text.substr(4)) {
    close(facts);
    x_gpu.emplace();
    x_gpu->fields.emplace_back("pci.bus_id", std::string(text.substr(4)));
    x_line = line;
    x_line.whole = x_line.message = x_line.source_file = {};
    x_lines_left = kLinesBetweenFields;
    x_sections.clear();
    return true;
  }
  if (x_lines_left == 0) {
    if (text != "Fabric") return false;  // what `grep -A` leaves of a report
    x_sections.assign(1, {depth, "Fabric"});
    x_lines_left = kLinesOfFragment;
    x_fragment = true;
    return true;
  }
  --x_lines_left;
  if (text.empty()) return true;
  while (!x_fragment && !x_sections.empty() && x_sections.back().first >= depth) x_sections.pop_back();
  const std::size_t colon = find_text(text, " : ");
  const std::string_view key = trimmed(before(text, " : "));
  if (colon == std::string_view::npos) {
    // A title of fields further in. A line at the margin is not of the report any more.
    const bool title = depth > 0 && text.size() < 60 && !has(text, ":") && x_sections.size() < kDeep;
    if (title) x_sections.emplace_back(depth, std::string(text));
    if (depth == 0 && !has(text, "===")) close(facts);
    return false;
  }
  if (depth == 0 && !x_fragment && !has(text, "  : ")) {
    close(facts);
    return false;
  }
  return take_field(key, trimmed(text.substr(colon + 3)), line, facts);
}

bool GpuReport::take_field(std::string_view key, std::string_view value, const Line& line, Facts& facts) {
  if (key == "Driver Version" && !x_gpu) x_driver = shown(value);
  const std::string_view section = x_sections.empty() ? std::string_view() : x_sections.back().second;
  const auto tell = [&](LogEventKind kind, std::int64_t code, std::string_view detail) {
    LogEvent event;
    event.kind = kind;
    event.code = code;
    event.subject = subject();
    event.detail = shown(detail);
    facts.add(std::move(event), line);
  };
  if (section == "Fabric" && key == "State" && (value == "In Progress" || value == "Not Started")) {
    tell(LogEventKind::kFabricManagerMissing, 0, value);
  }
  if (section == "Fabric" && key == "State" && value == "Completed")
    tell(LogEventKind::kFabricManagerReady, 0, {});
  if (section == "Fabric" && key == "Status" && value != "Success" && value != "N/A") {
    tell(LogEventKind::kFabricManagerError, 0, value);
  }
  if (key == "GPU Recovery Action") {
    const auto* const action = std::find(kActions.begin(), kActions.end(), value);
    if (action != kActions.end() && action != kActions.begin()) {
      tell(LogEventKind::kRecoveryAction, action - kActions.begin(), {});
    }
  }
  if (key == "Remapping Failure Occurred" && value == "Yes") tell(LogEventKind::kEccError, 0, {});
  if (value == "Active" && std::find(kSlowdowns.begin(), kSlowdowns.end(), key) != kSlowdowns.end()) {
    tell(LogEventKind::kThrottled, 0, key);
  }
  if (!x_gpu) return true;
  for (const Known& known : kKnown) {
    if (known.key != key || (!known.section.empty() && known.section != section)) continue;
    auto& fields = x_gpu->fields;
    const bool there =
        std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return f.first == known.name; });
    if (!there) fields.emplace_back(std::string(known.name), shown(value));
    x_lines_left = kLinesBetweenFields;
    break;
  }
  return true;
}

void GpuReport::close(Facts& facts) {
  if (x_gpu) {
    if (!x_driver.empty()) x_gpu->fields.emplace_back("driver_version", x_driver);
    add_gpu(std::move(*x_gpu), x_line, facts);
  }
  x_gpu.reset();
  x_sections.clear();
  x_lines_left = 0;
  x_fragment = false;
}

}  // namespace unhang::formats::log
