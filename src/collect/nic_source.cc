// SPDX-License-Identifier: Apache-2.0
#include "collect/nic_source.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "collect/fact_tree.h"
#include "collect/source_tally.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxDevices = 256, kMaxPorts = 16, kMaxCounters = 512;

struct Port {
  std::string device, port, folder;
  std::vector<std::string> counters, hw_counters;
};
struct Interface {
  std::string name, folder;
  std::vector<std::string> statistics;
};

// A number as a number; anything else as its text.
Json value_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number <= INT64_MAX) return number;
  return text;
}

class NicReader {
 public:
  NicReader(const NicPlace& place, const CaptureSampling& sampling, CaptureNames& names,
            CaptureContext& context)
      : x_place(place), x_sampling(sampling), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    CaptureContext& context = x_tally.context();
    find();
    if (x_ports.empty() && x_interfaces.empty())
      return x_tally.outcome("no network devices in " + x_place.sys);
    keep();
    if (x_sampling.samples > 1) {
      const auto last = context.now() + x_sampling.gap * (x_sampling.samples - 1);
      if (context.wait_until(last)) {
        keep();
      } else {
        x_tally.note("looked at once: no time was left for a second look");
      }
    }
    return x_tally.outcome({});
  }

 private:
  void find() {
    const std::string rdma = x_place.sys + "/class/infiniband/";
    for (const std::string& device : names_in_folder(rdma, kMaxDevices, x_tally)) {
      for (const std::string& port : names_in_folder(rdma + device + "/ports", kMaxPorts, x_tally)) {
        const std::string folder = rdma + device + "/ports/" + port;
        x_ports.push_back({device, port, folder, names_in_folder(folder + "/counters", kMaxCounters, x_tally),
                           names_in_folder(folder + "/hw_counters", kMaxCounters, x_tally)});
      }
    }
    const std::string net = x_place.sys + "/class/net/";
    for (const std::string& name : names_in_folder(net, kMaxDevices, x_tally)) {
      const std::string folder = net + name;
      const auto statistics = names_in_folder(folder + "/statistics", kMaxCounters, x_tally);
      if (!statistics.empty()) x_interfaces.push_back({name, folder, statistics});
    }
  }

  void ask(const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) x_paths.push_back(folder + "/" + name);
  }

  Json object_of(const std::string& folder, const std::vector<std::string>& names) const {
    Json object = Json::object();
    for (const std::string& name : names) {
      if (const auto found = x_values.find(folder + "/" + name); found != x_values.end())
        object[name] = value_of(found->second);
    }
    return object;
  }

  void keep() {
    static const std::vector<std::string> of_port{"state", "phys_state", "rate", "link_layer"};
    static const std::vector<std::string> of_interface{"operstate", "carrier", "speed", "mtu",
                                                       "carrier_changes"};
    const std::int64_t taken = x_tally.context().wall_ns();
    x_paths.clear();
    for (const Port& port : x_ports) {
      ask(port.folder, of_port);
      ask(port.folder + "/counters", port.counters);
      ask(port.folder + "/hw_counters", port.hw_counters);
    }
    for (const Interface& interface : x_interfaces) {
      ask(interface.folder, of_interface);
      ask(interface.folder + "/statistics", interface.statistics);
    }
    x_values = read_values(x_paths, x_tally);
    Json out{{"schema", "unhang.nic_counters/1"}, {"host", x_place.host}, {"taken", base::utc_text(taken)}};
    out["ports"] = Json::array();
    for (const Port& port : x_ports) {
      Json entry{{"device", port.device}, {"port", port.port}};
      entry.update(object_of(port.folder, of_port));
      entry["counters"] = object_of(port.folder + "/counters", port.counters);
      entry["hw_counters"] = object_of(port.folder + "/hw_counters", port.hw_counters);
      out["ports"].push_back(std::move(entry));
    }
    out["interfaces"] = Json::array();
    for (const Interface& interface : x_interfaces) {
      Json entry{{"name", interface.name}};
      entry.update(object_of(interface.folder, of_interface));
      entry["statistics"] = object_of(interface.folder + "/statistics", interface.statistics);
      out["interfaces"].push_back(std::move(entry));
    }
    model::BundleFile facts;
    facts.captured_ns = taken;
    facts.path = x_names.next("nic", taken, x_place.host.empty() ? "host" : x_place.host, "-counters.json");
    x_tally.keep(out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", std::move(facts));
  }

  const NicPlace& x_place;
  const CaptureSampling& x_sampling;
  CaptureNames& x_names;
  SourceTally x_tally;
  std::vector<Port> x_ports;
  std::vector<Interface> x_interfaces;
  std::vector<std::string> x_paths;
  std::map<std::string, std::string> x_values;
};

}  // namespace

CaptureSource nic_source(std::string id, NicPlace place, CaptureSampling sampling,
                         std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "nic";
  source.asked_kind = "path";
  source.asked = place.sys + "/class";
  source.run = [place = std::move(place), sampling, names = std::move(names)](CaptureContext& context) {
    return NicReader(place, sampling, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
