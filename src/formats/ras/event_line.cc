// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/event_line.h"

#include <algorithm>

#include "formats/ras/line_words.h"

namespace unhang::formats::ras {
namespace {

constexpr std::size_t kMaxString = 1024;

// "2026-11-29 15:13:42"
bool is_timestamp(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char have, char want) {
           return want == '0' ? have >= '0' && have <= '9' : have == want;
         });
}

bool is_event_name(std::string_view name) {
  return name.starts_with("PEER_") && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::optional<model::RasEvent> read_event_line(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::size_t close = text.find("] ");
  if (close == std::string_view::npos || !is_timestamp(text.substr(1, close - 1))) return std::nullopt;
  const std::size_t colon = text.find(": ", close);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(close + 2, colon - close - 2);
  if (!is_event_name(name)) return std::nullopt;

  model::RasEvent event;
  event.timestamp = text.substr(1, close - 1);
  event.event = name.substr(0, kMaxString);
  event.lifecycle = name == "PEER_NEW" || name == "PEER_DEAD";
  LineWords words(text.substr(colon + 2));
  model::RasProcess process;
  if (read_process(words, process)) {
    event.host = std::move(process.host);
    event.pid = process.pid;
    event.cuda_devices = std::move(process.cuda_devices);
  } else if (const std::size_t end = words.rest().find('>');
             end != std::string_view::npos && words.rest().find('<') < end) {
    // A peer that has not said who it is: "127.0.1.2<41234>".
    const std::string_view head = words.rest().substr(0, end + 1);
    const std::size_t blank = head.rfind(' ');
    event.address = head.substr(blank == std::string_view::npos ? 0 : blank + 1).substr(0, kMaxString);
    words.take(head);
  }
  words.skip_blanks();
  event.details = words.rest().substr(0, kMaxString);
  return event;
}

}  // namespace unhang::formats::ras
