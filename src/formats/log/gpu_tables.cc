// SPDX-License-Identifier: Apache-2.0
//
// The tables of nvidia-smi with a row for each GPU: CSV and the one for the screen.
#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/device_reports.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::GpuTable;
using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kGpus = 4096;
constexpr std::size_t kColumns = 128;
constexpr int kRowsOfCsv = 1024;
constexpr int kLinesOfGpu = 4;
// A kernel that only waits keeps every multiprocessor awake and moves no data: H100 at 70 to 120 W of 700.
constexpr double kSpinUtilisation = 99;
constexpr double kSpinPower = 0.35;

// Columns of --query-gpu that no prose has.
constexpr std::array<std::string_view, 15> kColumnNames{
    "index",           "name",       "uuid",           "gpu_uuid",     "gpu_name",
    "pci.bus_id",      "gpu_bus_id", "driver_version", "memory.total", "memory.used",
    "utilization.gpu", "power.draw", "vbios_version",  "timestamp",    "pstate"};

bool is_column(std::string_view word) {
  if (std::find(kColumnNames.begin(), kColumnNames.end(), word) != kColumnNames.end()) return true;
  return word.starts_with("pcie.link.") || word.starts_with("clocks") || word.starts_with("power.") ||
         word.starts_with("memory.") || word.starts_with("temperature.") ||
         word.starts_with("utilization.") || word.starts_with("ecc.") || word.starts_with("mig.mode") ||
         word.starts_with("persistence_mode") || word.starts_with("compute_mode") ||
         word.starts_with("fabric.");
}

// "memory.total [MiB]" -> "memory.total"
std::string_view column_name(std::string_view cell) {
  cell = trimmed(up_to(cell, "["));
  if (cell == "gpu_uuid") return "uuid";
  if (cell == "gpu_name") return "name";
  if (cell == "gpu_bus_id") return "pci.bus_id";
  return cell;
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  std::size_t known = 0;
  for (const std::string_view cell : cells_of(list, ',', kColumns)) {
    const std::string_view name = column_name(cell);
    if (name.empty() || name.size() > 64 || has(name, " ")) return {};
    if (is_column(name)) ++known;
    names.push_back(shown(name));
  }
  return known * 2 > names.size() ? names : std::vector<std::string>();
}

// "112.35 W" -> "112.35"
std::string value_of(std::string_view cell) {
  constexpr std::array<std::string_view, 6> kUnits{" MiB", " MHz", " W", " %", " C", " GiB"};
  for (const std::string_view unit : kUnits) {
    if (cell.ends_with(unit) && is_digit(cell.front()))
      return shown(cell.substr(0, cell.size() - unit.size()));
  }
  return shown(cell);
}

// Of a row whose head is not there, what can be nothing else.
std::string_view name_of_value(std::string_view cell) {
  if (cell.starts_with("GPU-") && cell.size() == 40) return "uuid";
  if (cell.size() == 16 && cell.starts_with("0000") && pci_address(cell) == cell) return "pci.bus_id";
  if (cell.starts_with("NVIDIA ") || cell.starts_with("Tesla ")) return "name";
  return {};
}

std::string_view field(const GpuTable& gpu, std::string_view name) {
  for (const auto& [key, value] : gpu.fields) {
    if (key == name) return value;
  }
  return {};
}

void tell(LogEventKind kind, std::string_view subject, const Line& line, Facts& facts) {
  LogEvent event;
  event.kind = kind;
  event.subject = shown(subject);
  facts.add(std::move(event), line);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size()))
    ++count;
  return count;
}

std::optional<double> leading_fraction(std::string_view text) {
  return whole_fraction(up_to(trimmed(text), " W%M/"));
}

}  // namespace

void add_gpu(GpuTable gpu, const Line& line, Facts& facts) {
  const auto busy = leading_fraction(field(gpu, "utilization.gpu"));
  const auto draw = leading_fraction(field(gpu, "power.draw"));
  const auto limit = leading_fraction(field(gpu, "power.limit"));
  if (busy && draw && limit && *limit > 0 && *busy >= kSpinUtilisation && *draw < kSpinPower * *limit) {
    const std::string_view index = field(gpu, "index");
    LogEvent event;
    event.kind = LogEventKind::kGpuIdleSpin;
    event.subject = shown("GPU " + std::string(index.empty() ? field(gpu, "pci.bus_id") : index));
    event.text =
        shown(event.subject + ": " + std::string(field(gpu, "utilization.gpu")) + " % busy at " +
              std::string(field(gpu, "power.draw")) + " of " + std::string(field(gpu, "power.limit")) + " W");
    facts.add(std::move(event), line);
  }
  if (facts.log().gpus.size() >= kGpus) {
    ++facts.log().forgotten;
    return;
  }
  gpu.line = line.number;
  facts.log().gpus.push_back(std::move(gpu));
}

bool GpuCsv::take(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  if (const auto query = behind(text, "--query-gpu=")) {
    x_names = names_in(up_to(*query, " \"'|"));
    x_rows_left = x_names.empty() ? 0 : kRowsOfCsv;
    return !x_names.empty();
  }
  if (has(text, ",")) {
    if (std::vector<std::string> names = names_in(text); names.size() > 1) {
      x_names = std::move(names);
      x_rows_left = kRowsOfCsv;
      return true;
    }
    return take_row(line, facts);
  }
  if (x_rows_left > 0 && !text.empty()) x_rows_left = 0;
  return false;
}

bool GpuCsv::take_row(const Line& line, Facts& facts) {
  const std::vector<std::string_view> cells = cells_of(trimmed(line.message), ',', kColumns + 1);
  GpuTable gpu;
  if (x_rows_left > 0 && cells.size() == x_names.size()) {
    --x_rows_left;
    for (std::size_t i = 0; i < cells.size(); ++i) gpu.fields.emplace_back(x_names[i], value_of(cells[i]));
  } else {
    x_rows_left = 0;
    for (const std::string_view cell : cells) {
      const std::string_view name = name_of_value(cell);
      if (!name.empty() && field(gpu, name).empty())
        gpu.fields.emplace_back(std::string(name), value_of(cell));
    }
    if (gpu.fields.size() < 2) return false;
  }
  if (count_of(line.message, "[Unknown Error]") > 1 || has(line.message, "[GPU is lost]")) {
    const std::string_view address = field(gpu, "pci.bus_id");
    tell(LogEventKind::kGpuLost, address.empty() ? field(gpu, "index") : address, line, facts);
  }
  add_gpu(std::move(gpu), line, facts);
  return true;
}

// |   0  NVIDIA H100 80GB HBM3          On  | 00000000:1B:00.0 Off |                    0 |
// | N/A   33C    P0             112W / 700W |   12345MiB / 81559MiB  |    100%      Default |
bool GpuScreen::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto driver = behind(text, "Driver Version: ")) {
    if (!has(text, "NVIDIA-SMI")) return false;
    x_driver = shown(first_word(*driver));
    return true;
  }
  if (x_lines_left > 0) --x_lines_left;
  if (!trimmed(text).starts_with('|')) return false;
  const std::vector<std::string_view> cells = cells_of(text, '|', 8);
  if (cells.size() < 4) return false;
  const std::string_view address = pci_address(cells[2]);
  const auto index = leading_number(cells[1]);
  if (address.size() == 16 && index && *index >= 0) {
    x_index = std::to_string(*index);
    std::string_view name = trimmed(cells[1].substr(std::min(cells[1].find(' '), cells[1].size())));
    if (const std::string_view mode = last_word(name); mode == "On" || mode == "Off") {
      name = trimmed(name.substr(0, name.size() - mode.size()));
    }
    x_name = shown(name);
    x_address = address;
    x_lines_left = kLinesOfGpu;
    return true;
  }
  if (x_lines_left == 0 || x_address.empty()) return false;
  if (count_of(text, "ERR!") > 2) {
    tell(LogEventKind::kGpuLost, x_address, line, facts);
    x_lines_left = 0;
    return true;
  }
  const auto memory = behind(cells[2], "MiB / ");
  if (!memory) return false;
  GpuTable gpu;
  gpu.fields = {{"index", x_index}, {"name", x_name}, {"pci.bus_id", x_address}};
  if (!x_driver.empty()) gpu.fields.emplace_back("driver_version", x_driver);
  const std::string_view power = cells[1];
  if (const std::size_t slash = power.find("W /"); slash != std::string_view::npos) {
    gpu.fields.emplace_back("power.draw", shown(last_word(power.substr(0, slash))));
    const std::string_view limit = trimmed(power.substr(slash + 3));
    if (!limit.empty() && is_digit(limit.front()))
      gpu.fields.emplace_back("power.limit", shown(before(limit, "W")));
  }
  gpu.fields.emplace_back("memory.used", shown(before(cells[2], "MiB")));
  gpu.fields.emplace_back("memory.total", shown(before(*memory, "MiB")));
  if (const std::size_t percent = cells[3].find('%'); percent != std::string_view::npos) {
    gpu.fields.emplace_back("utilization.gpu", shown(trimmed(cells[3].substr(0, percent))));
  }
  x_lines_left = 0;
  add_gpu(std::move(gpu), line, facts);
  return true;
}

}  // namespace unhang::formats::log
