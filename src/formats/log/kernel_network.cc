// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/interfaces.h"
#include "formats/log/kernel_messages.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

// Every port without a cable says so while the machine starts: that is no link that went down.
constexpr std::int64_t kStartNs = 120ll * 1'000'000'000;

constexpr std::array<std::string_view, 22> kDrivers{
    "mlx5_core", "mlx5_ib", "mlx4_core", "mlx4_en", "mlx4_ib", "bnxt_en", "bnxt_re", "irdma",
    "ice",       "i40e",    "ixgbe",     "igb",     "igc",     "e1000e",  "e1000",   "tg3",
    "efa",       "ena",     "gve",       "qede",    "ionic",   "hns3"};

bool starts_with_driver(std::string_view text) {
  const std::string_view word = up_to(trimmed(text), " :\t");
  return std::find(kDrivers.begin(), kDrivers.end(), word) != kDrivers.end();
}

bool of_adapter(const Line& line) {
  if (line.kernel || starts_with_driver(line.message)) return true;
  // A prefix may be left in front.
  return std::any_of(kDrivers.begin(), kDrivers.begin() + 8,
                     [&](std::string_view driver) { return has(line.message, driver); });
}

bool add(LogEventKind kind, std::string_view subject, const Line& line, Facts& facts,
         std::string_view detail = {}) {
  LogEvent event;
  event.kind = kind;
  event.subject = shown(subject);
  event.detail = shown(detail);
  facts.add(std::move(event), line);
  return true;
}

bool add_link(bool up, std::string_view subject, const Line& line, Facts& facts) {
  if (is_virtual_interface(subject)) return true;
  const bool starting = line.time.clock == model::LogClock::kUptime && line.time.ns < kStartNs;
  if (starting && !up) return true;
  return add(up ? LogEventKind::kLinkUp : LogEventKind::kLinkDown, subject, line, facts);
}

// "mlx5_core 0000:ab:00.0 ens1f0np0: " -> "ens1f0np0"; "…: NIC " and "… Port: 1 " before it are passed over.
// Without an interface the PCI address.
std::string_view device_in_front(std::string_view front) {
  const std::vector<std::string_view> words = words_of(front, 64);
  std::string_view address;
  for (std::size_t i = words.size(); i-- > 0;) {
    std::string_view word = words[i];
    while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    if (word.empty() || word == "NIC" || word == "Copper" || word == "Fibre" || word == "SerDes" ||
        word == "Port" || all_digits(word) || has(word, "watchdog")) {
      continue;
    }
    const std::string_view pci = pci_address(word);
    if (!pci.empty() && pci.size() == word.size()) {
      address = word;
      break;
    }
    return word;
  }
  return address;
}

bool take_bonding(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "now running without any active interface")) {
    return add_link(false, last_word(before(text, ": now running")), line, facts);
  }
  const bool up = has(text, "link status definitely up");
  if (!up && !has(text, "link status definitely down")) return false;
  if (const auto member = behind(text, "(slave ")) return add_link(up, before(*member, ")"), line, facts);
  if (const auto member = behind(text, "for interface "))
    return add_link(up, up_to(*member, ", "), line, facts);
  return false;
}

bool take_link(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "link becomes ready")) {
    return add_link(true, last_word(before(text, ": link becomes ready")), line, facts);
  }
  if (!of_adapter(line)) return false;
  for (const std::string_view word :
       {"Link DOWN", "Link ACTIVE", "Link INIT", "Link is Down", "Link is down", "Link is Up", "Link is up",
        "Link down", "Link Down", "Link up", "Link Up"}) {
    const std::size_t at = find_text(text, word);
    if (at == std::string_view::npos) continue;
    if (word == "Link INIT") return true;
    const bool up = word.ends_with("p") || word.ends_with("E");
    const std::string_view device = device_in_front(text.substr(0, at));
    if (device.empty()) return false;
    return add_link(up, device, line, facts);
  }
  return false;
}

bool take_module_event(std::string_view event, const Line& line, Facts& facts) {
  const std::string_view device = device_in_front(before(line.message, "Port module event"));
  if (has(event, "Cable unplugged")) return add_link(false, device, line, facts);
  if (has(event, "Cable plugged")) return true;
  if (has(event, "Cable error") || event.starts_with("[error]")) {
    return add(LogEventKind::kAdapterFault, device, line, facts, "cable");
  }
  return true;
}

// "Health issue observed, firmware internal error, severity(3) ERROR:": the smaller the worse; from 4 on it
// is a warning.
bool take_health_issue(std::string_view issue, const Line& line, Facts& facts) {
  constexpr std::int64_t kError = 3;
  const auto severity = behind(issue, "severity(");
  if (severity && leading_number(*severity).value_or(0) > kError) return true;
  return add(LogEventKind::kAdapterFault, pci_address(line.message), line, facts, "health");
}

struct Fault {
  std::string_view sentence, detail;
};
constexpr std::array kFaults{
    Fault{"health compromised", "health"},
    Fault{"Fatal error ", "fatal"},
    Fault{"firmware internal error", "firmware"},
    Fault{"unrecoverable hardware error", "hardware"},
    Fault{"health recovery failed", "health"},
    Fault{"leak of a command resource", "command timeout"},
    Fault{"TX timeout detected", "transmit timeout"},
    Fault{"irmware fatal error", "fatal"},
    Fault{"Failed to process command", "command"},
    Fault{"eep alive watchdog timeout", "keep alive"},
    Fault{"PF reset issued", "reset"},
};

bool take_fault(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto watchdog = behind(text, "NETDEV WATCHDOG: ")) {
    if (!has(*watchdog, "timed out")) return false;
    return add(LogEventKind::kAdapterFault, up_to(*watchdog, " :("), line, facts, "transmit timeout");
  }
  if (const auto module = behind(text, "Port module event")) return take_module_event(*module, line, facts);
  if (const auto issue = behind(text, "Health issue observed")) return take_health_issue(*issue, line, facts);
  if (has(text, "High temperature on sensors")) {
    return add(LogEventKind::kThrottled, pci_address(text), line, facts, "high temperature");
  }
  const bool infiniband = has(text, "infiniband ");
  if (!infiniband && !of_adapter(line)) return false;
  for (const Fault& fault : kFaults) {
    const std::size_t at = find_text(text, fault.sentence);
    if (at == std::string_view::npos) continue;
    std::string_view device = pci_address(text);
    if (const auto name = behind(text, "infiniband ")) device = up_to(*name, ": ");
    if (device.empty() && !starts_with_driver(text)) return false;
    return add(LogEventKind::kAdapterFault, device, line, facts, fault.detail);
  }
  return false;
}

}  // namespace

bool take_network_message(const Line& line, Facts& facts) {
  return take_bonding(line, facts) || take_fault(line, facts) || take_link(line, facts);
}

}  // namespace unhang::formats::log
