// SPDX-License-Identifier: Apache-2.0
#include "report/ras_events.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "base/rank_set.h"
#include "report/text_layout.h"

namespace unhang::report {

std::string ras_event_line(const model::RasEvent& event) {
  std::string who = event.host.empty() ? event.address : event.host;
  if (event.pid >= 0) who += fmt::format(" pid {}", event.pid);
  if (!event.cuda_devices.empty()) who += " GPU " + base::fold_ranks(event.cuda_devices);
  std::string line = fmt::format("{}  {}  {}", event.timestamp, event.event, who);
  if (!event.details.empty()) line += "  " + event.details;
  return one_line(line) + "\n";
}

std::string ras_event_json(const model::RasEvent& event, const std::string& told_by) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const Json document = {{"schema", "unhang.ras_event/1"},
                         {"timestamp", text_or_null(event.timestamp)},
                         {"event", event.event},
                         {"lifecycle", event.lifecycle},
                         {"host", text_or_null(event.host)},
                         {"pid", event.pid < 0 ? Json(nullptr) : Json(event.pid)},
                         {"cuda_devices", event.cuda_devices},
                         {"address", text_or_null(event.address)},
                         {"details", text_or_null(event.details)},
                         {"told_by", told_by}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace unhang::report
