// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "base/redaction.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_texts.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

bool of_variable(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "[0]eth0:10.0.0.8<0> [1]docker0:172.17.0.1<0>", "eth0:10.0.0.8<0>": an event for each.
void add_interfaces(std::string_view list, std::string_view of, const Line& line, Facts& facts) {
  constexpr int kMost = 32;
  for (int i = 0; i < kMost && !list.empty(); ++i) {
    while (list.starts_with(' ')) list.remove_prefix(1);
    if (list.starts_with('[')) {
      const std::size_t close = list.find(']');
      if (close == std::string_view::npos) return;
      list.remove_prefix(close + 1);
    }
    const std::string_view word = up_to(list, " \t");
    list.remove_prefix(word.size());
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0 || !has(word, "<")) return;
    facts.add(event_of(LogEventKind::kInterfaceChosen, 0, -1, of, word.substr(0, colon),
                       up_to(word.substr(colon + 1), "<")),
              line);
  }
}

// "[0]mlx5_0:1/RoCE [1]mlx5_1:1/IB/SHARP [RO]; OOB ib0:10.0.0.1<0>".
void add_adapters(std::string_view list, const Line& line, Facts& facts) {
  const std::string_view devices = before(list, ";");
  std::string joined;
  bool roce = false, infiniband = false;
  for (const std::string_view word : words_of(devices, 64)) {
    if (!word.starts_with('[')) continue;
    const std::size_t close = word.find(']');
    if (close == std::string_view::npos || close + 1 >= word.size()) continue;
    const std::string_view device = word.substr(close + 1);
    const std::size_t slash = device.find('/');
    const std::string_view layer =
        slash == std::string_view::npos ? std::string_view() : device.substr(slash);
    roce |= has(layer, "RoCE");
    infiniband |= layer.starts_with("/IB");
    if (!joined.empty()) joined += ',';
    joined += device.substr(0, slash);
  }
  if (joined.empty()) return;
  model::LogEvent event = event_of(LogEventKind::kHcaList, 0, -1,
                                   roce && infiniband ? "IB,RoCE"
                                   : roce             ? "RoCE"
                                   : infiniband       ? "IB"
                                                      : "");
  event.subject = joined;
  facts.add(std::move(event), line);
  if (const auto out_of_band = behind(list, "OOB ")) add_interfaces(*out_of_band, "socket", line, facts);
}

bool environment(std::string_view text, const Line& line, Facts& facts) {
  std::size_t n = 0;
  while (n < text.size() && of_variable(text[n])) ++n;
  if (n < 4) return false;
  const std::string_view variable = text.substr(0, n), rest = text.substr(n);
  std::string_view value;
  for (const std::string_view mark : {" set by environment to ", " set to ", " set by user to "}) {
    if (rest.starts_with(mark)) value = rest.substr(mark.size());
  }
  if (value.empty()) return false;
  value = trimmed(value);
  if (value.ends_with('.')) value.remove_suffix(1);
  facts.add(event_of(LogEventKind::kEnvironment, 0, -1, shown_value(variable, value), variable), line);
  return true;
}

bool network(std::string_view text, const Line& line, Facts& facts) {
  if (const auto name = behind(text, "Using network "); name && !has(text, "plugin")) {
    facts.add(event_of(LogEventKind::kNetworkChosen, 0, -1, {}, trimmed(*name)), line);
    return true;
  }
  if (const auto name = behind(text, "Using internal Network "); name) {
    facts.add(event_of(LogEventKind::kNetworkChosen, 0, -1, {}, trimmed(*name)), line);
    return true;
  }
  if (const auto name = behind(text, "Assigned NET plugin "); name) {
    facts.add(event_of(LogEventKind::kNetworkChosen, 0, -1, {}, before(*name, " to comm")), line);
    return true;
  }
  if (has(text, "NET/IB : No device found") || has(text, "NET/IB: No device found")) {
    facts.add(event_of(LogEventKind::kNoHca), line);
    return true;
  }
  if (text.starts_with("NET/IB : Using [") || text.starts_with("NET/IB: Using [")) {
    add_adapters(text_behind(text, "Using "), line, facts);
    return true;
  }
  if (text.starts_with("NET/Socket : Using [") || text.starts_with("NET/Socket: Using [")) {
    add_interfaces(text_behind(text, "Using "), "socket", line, facts);
    return true;
  }
  for (const std::string_view mark :
       {"Bootstrap : Using ", "Bootstrap: Using ", "Bootstrap Using ", "NET : Using interface "}) {
    if (!text.starts_with(mark)) continue;
    add_interfaces(text.substr(mark.size()), mark.starts_with('N') ? "socket" : "bootstrap", line, facts);
    return true;
  }
  return false;
}

bool plugin(std::string_view text, const Line& line, Facts& facts) {
  if (const auto path = behind(text, "Plugin Path : ")) {
    facts.add(event_of(LogEventKind::kPluginLoaded, 0, -1, {}, trimmed(*path)), line);
    return true;
  }
  for (const std::string_view mark : {"Initialized NET plugin ", "P2P plugin ", "Loaded net plugin ",
                                      "Successfully loaded external plugin "}) {
    const auto name = behind(text, mark);
    if (!name) continue;
    const std::string_view word = plain_word(*name);
    if (word == "IB" || word == "Socket") return false;  // NCCL's own
    facts.add(event_of(LogEventKind::kPluginLoaded, 0, -1, {}, word), line);
    return true;
  }
  if (!has(text, "lugin") && !has(text, "NET/OFI")) return false;
  if (text.starts_with("NET/") &&
      (has(text, "Could not find") || has(text, "No plugin found") ||
       has(text, "cannot open shared object") || has(text, "Using internal network plugin"))) {
    facts.add(event_of(LogEventKind::kPluginMissing), line);
    return true;
  }
  return false;
}

}  // namespace

std::string_view shown_value(std::string_view variable, std::string_view value) {
  return base::sounds_secret(variable) ? std::string_view("(removed)") : value;
}

std::span<const std::string_view> nccl_setup_keywords() {
  static constexpr std::array<std::string_view, 18> kWords{
      "Using network ",     "Using internal ",   "Assigned NET plugin ",
      "No device found",    "NET/IB : Using",    "NET/IB: Using",
      "NET/Socket : Using", "NET/Socket: Using", "Bootstrap : Using",
      "Bootstrap: Using",   "Bootstrap Using",   "NET : Using",
      " set by ",           " set to ",          "lugin",
      "Plugin Path",        "NET/OFI",           "cannot open shared object"};
  return kWords;
}

bool take_nccl_setup(std::string_view text, const Line& line, Facts& facts) {
  return network(text, line, facts) || environment(text, line, facts) || plugin(text, line, facts);
}

bool take_unwinding(std::string_view text, const Line& line, Facts& facts) {
  // "init.cc:903 -> 5", "init.cc:903 (function) -> 5 [Async thread]".
  const std::size_t arrow = find_text(text, " -> ");
  if (arrow == std::string_view::npos) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon > arrow || colon + 1 >= arrow || !is_digit(text[colon + 1]) ||
      text.substr(0, colon).find(' ') != std::string_view::npos ||
      text.substr(0, colon).find('.') == std::string_view::npos) {
    return false;
  }
  const auto code = leading_number(text.substr(arrow + 4));
  if (!code || *code < 0 || *code > 99) return false;
  const std::string_view behind_code = text.substr(arrow + 4);
  std::string_view tag = text_behind(behind_code, "[");
  tag = up_to(tag, "]");
  facts.add(event_of(LogEventKind::kUnwinding, *code, -1, tag), line);
  return true;
}

}  // namespace unhang::formats::log
