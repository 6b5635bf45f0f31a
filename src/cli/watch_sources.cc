// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_sources.h"

#include <algorithm>
#include <utility>

#include "collect/ras_addresses.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;
using base::fail;

// "chat=http://a:8000" -> ("chat", "http://a:8000"). An address may hold a "=", too, but only behind a "/",
// ":" or "?".
std::pair<std::string, std::string> split_name(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || text.find_first_of("/:?,[") < equals) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

WatchedInstance& instance_named(WatchSources& sources, const std::string& name) {
  const auto found = std::find_if(sources.instances.begin(), sources.instances.end(),
                                  [&](const WatchedInstance& instance) { return instance.name == name; });
  if (found != sources.instances.end()) return *found;
  sources.instances.push_back({name, {}, {}});
  return sources.instances.back();
}

// "node3:8000" of "http://node3:8000/metrics".
std::string short_name(const collect::EngineEndpoint& engine) {
  if (!engine.file.empty()) return engine.shown;
  const std::size_t host = engine.shown.find("://") + 3;
  return engine.shown.substr(host, engine.shown.find_first_of("/?", host) - host);
}

template <class Item>
void add_once(std::vector<Item>& list, const Item& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

base::Result<WatchSources> watch_sources(const std::vector<std::string>& ras,
                                         const std::vector<std::string>& engines, const std::string& name) {
  if (ras.empty() && engines.empty()) {
    return fail(ErrorCode::kUsage, "nothing to watch: give --engine URL, --ras HOST:PORT, or both");
  }
  WatchSources sources;
  for (const std::string& text : engines) {
    const auto [instance, address] = split_name(text);
    auto endpoint = collect::parse_engine(address);
    if (!endpoint) return fail(std::move(endpoint.error()).with("--engine"));
    instance_named(sources, instance.empty() ? name : instance).engines.push_back(sources.engines.size());
    sources.engines.push_back(std::move(*endpoint));
  }
  for (const std::string& text : ras) {
    const auto [instance, list] = split_name(text);
    auto addresses = collect::parse_ras_addresses(list);
    if (!addresses) return fail(std::move(addresses.error()).with("--ras"));
    WatchedInstance& into = instance_named(sources, instance.empty() ? name : instance);
    for (const net::HostPort& address : *addresses) {
      add_once(into.ras, address);
      add_once(sources.ras, address);
    }
  }
  for (WatchedInstance& instance : sources.instances) {
    if (!instance.name.empty()) continue;
    instance.name = instance.engines.empty() ? instance.ras.front().text()
                                             : short_name(sources.engines[instance.engines[0]]);
  }
  return sources;
}

}  // namespace unhang::cli
