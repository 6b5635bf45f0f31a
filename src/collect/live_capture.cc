// SPDX-License-Identifier: Apache-2.0
#include "collect/live_capture.h"

#include <algorithm>
#include <array>

#include "collect/dump_places.h"
#include "collect/dump_trigger.h"
#include "collect/engine_source.h"
#include "collect/flight_recorder_dumps.h"
#include "collect/machine_sources.h"
#include "collect/ras_addresses.h"
#include "collect/ras_source.h"
#include "collect/redaction.h"
#include "collect/worker_processes.h"
#include "net/local_address.h"
#include "os/host_name.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kRasAddress = "NCCL_RAS_ADDR", kRasFactor = "NCCL_RAS_TIMEOUT_FACTOR";
constexpr std::size_t kMaxRasAddresses = 256;
// Looking at the processes comes first, because they say where RAS and the dumps are.
constexpr std::chrono::nanoseconds kLongestLook = std::chrono::seconds(5);

const std::string* variable(const LiveCaptureRequest& request, std::string_view name) {
  for (const auto& [known, value] : request.environment) {
    if (known == name) return &value;
  }
  return nullptr;
}
const char* text_of(const std::string* value) {
  return value == nullptr ? nullptr : value->c_str();
}

void add_once(std::vector<net::HostPort>& list, const std::vector<net::HostPort>& more) {
  for (const net::HostPort& address : more) {
    if (list.size() < kMaxRasAddresses && std::find(list.begin(), list.end(), address) == list.end())
      list.push_back(address);
  }
}

struct RasPlan {
  std::vector<net::HostPort> addresses;
  std::vector<std::string> elsewhere;  // stated by a worker, but not to be reached from here
};

// An address that a worker states is asked only where it is one of this machine: nothing that stands in a
// stranger's environment makes us call another. (Names other than localhost are not even resolved.)
bool is_here(const net::HostPort& address) {
  const bool is_numeric = address.host.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos;
  if (!is_numeric && address.host != "localhost") return false;
  const auto resolved = net::resolve(address, net::Deadline::in(std::chrono::seconds(1)));
  return resolved && std::any_of(resolved->begin(), resolved->end(), net::is_local);
}

base::Result<RasPlan> plan_ras(const LiveCaptureRequest& request, const Workers& workers) {
  RasPlan plan;
  for (const std::string& list : request.ras_addresses) {
    auto parsed = parse_ras_addresses(list);
    if (!parsed) return base::fail(std::move(parsed.error()));
    add_once(plan.addresses, *parsed);
  }
  if (!plan.addresses.empty()) return plan;
  for (const os::Process& worker : workers.processes) {
    const std::string* stated = worker.variable(kRasAddress);
    const auto parsed =
        stated == nullptr ? base::Result<std::vector<net::HostPort>>() : parse_ras_addresses(*stated);
    if (stated == nullptr || !parsed) continue;
    for (const net::HostPort& address : *parsed) {
      if (std::find(plan.addresses.begin(), plan.addresses.end(), address) != plan.addresses.end()) continue;
      if (std::find(plan.elsewhere.begin(), plan.elsewhere.end(), address.text()) != plan.elsewhere.end())
        continue;
      if (is_here(address)) {
        add_once(plan.addresses, {address});
      } else if (plan.elsewhere.size() < kMaxRasAddresses) {
        plan.elsewhere.push_back(address.text());
      }
    }
  }
  if (!plan.addresses.empty()) return plan;
  auto usual = default_ras_addresses(text_of(variable(request, kRasAddress)));
  if (!usual) return base::fail(std::move(usual.error()));
  add_once(plan.addresses, *usual);
  return plan;
}

class Planner {
 public:
  Planner(const LiveCaptureRequest& request, const Workers& workers, CaptureSampling sampling)
      : x_request(request), x_workers(workers), x_sampling(sampling) {}

  base::Result<std::vector<CaptureSource>> run() {
    if (x_request.ras && x_request.selection.has("ras")) {
      const auto plan = plan_ras(x_request, x_workers);
      if (!plan) return base::fail(plan.error());
      add_ras(*plan);
    }
    for (const std::string& url : x_request.engines) {
      if (!x_request.selection.has("engine")) break;
      auto endpoint = parse_engine(url);
      if (!endpoint) return base::fail(std::move(endpoint.error()));
      const std::string shown = without_secrets(endpoint->shown);
      x_sources.push_back(engine_source("engine-" + std::to_string(++x_engines), shown, x_sampling,
                                        live_engine(std::move(*endpoint), x_request.wake_fd), x_names));
    }
    if (x_request.dumps && x_request.selection.has("flight-recorder")) add_dumps();
    std::size_t asked = 0;
    for (const std::string& url : x_request.trigger_urls) {
      auto endpoint = parse_trigger_url(url);
      if (!endpoint) return base::fail(std::move(endpoint.error()));
      x_sources.push_back(
          http_dump_source("flight-recorder-http-" + std::to_string(++asked), std::move(*endpoint)));
    }
    const auto others = std::make_shared<OthersAtWork>();
    for (CaptureSource& source : x_sources) source = OthersAtWork::counted(std::move(source), others);
    for (CaptureSource& source : machine_sources(x_request, x_workers, x_sampling, others, x_names))
      x_sources.push_back(std::move(source));
    add_processes();
    return std::move(x_sources);
  }

 private:
  void add_ras(const RasPlan& plan) {
    RasClientOptions options;
    options.timeout = default_ras_timeout(text_of(variable(x_request, kRasFactor)));
    options.release = x_request.nccl_release;
    options.proc_root = x_request.proc;
    std::size_t count = 0;
    for (const net::HostPort& address : plan.addresses) {
      x_sources.push_back(ras_source("ras-" + std::to_string(++count), address.text(), x_sampling,
                                     live_ras(address, options, x_request.wake_fd), x_names));
    }
    for (const std::string& address : plan.elsewhere) {
      CaptureSource source{"ras-" + std::to_string(++count), "ras", "address", address, {}};
      source.run = [](CaptureContext&) {
        return SourceOutcome{
            model::SourceStatus::kFailed,
            "not asked: a worker states this address, and it is none of this machine as seen from here; "
            "where the worker runs in a container, capture in the container",
            {}};
      };
      x_sources.push_back(std::move(source));
    }
  }

  void add_dumps() {
    DumpSearch search;
    search.workers = x_workers.processes;
    search.paths = x_request.dump_paths;
    search.own_namespace = x_workers.own_namespace;
    search.host = os::host_name();
    const auto value = [&](std::string_view name) {
      const std::string* found = variable(x_request, name);
      return found == nullptr ? std::string() : *found;
    };
    search.own_prefixes =
        dump_prefixes(variable(x_request, dump_variables()[0]), variable(x_request, dump_variables()[1]),
                      value("HOME"), value("XDG_CACHE_HOME"));
    x_sources.push_back(x_request.trigger_dumps
                            ? triggered_dumps_source("flight-recorder", std::move(search))
                            : flight_recorder_source("flight-recorder", std::move(search)));
  }

  // They were looked at already: the others stand on that.
  void add_processes() {
    CaptureSource source{"processes", "processes", "path", x_request.proc, {}};
    source.run = [outcome = SourceOutcome{x_workers.status, x_workers.reason, {}}](CaptureContext&) {
      return outcome;
    };
    x_sources.push_back(std::move(source));
  }

  const LiveCaptureRequest& x_request;
  const Workers& x_workers;
  CaptureSampling x_sampling;
  std::shared_ptr<CaptureNames> x_names = std::make_shared<CaptureNames>();
  std::vector<CaptureSource> x_sources;
  std::size_t x_engines = 0;
};

// What tells of the job itself; the rest is there on any machine.
bool is_of_job(const model::BundleSource& source) {
  constexpr std::array<std::string_view, 6> kKinds{"ras",    "engine",   "flight_recorder",
                                                   "stacks", "nccl_log", "sockets"};
  return std::find(kKinds.begin(), kKinds.end(), source.kind) != kKinds.end();
}

// Whether the capture got what it was for: something of the job, or, where only the machine was asked,
// something of that.
bool got_something(const model::BundleManifest& manifest) {
  const auto& sources = manifest.sources;
  const bool asks_job = std::any_of(sources.begin(), sources.end(), is_of_job);
  return std::any_of(sources.begin(), sources.end(), [&](const model::BundleSource& source) {
    return !source.files.empty() && (!asks_job || is_of_job(source));
  });
}

}  // namespace

const std::vector<std::string>& capture_variables() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = dump_variables();
    all.emplace_back(kRasAddress);
    all.emplace_back(kRasFactor);
    all.emplace_back("PATH");
    all.emplace_back("SLURM_JOB_ID");
    return all;
  }();
  return names;
}

base::Result<CaptureResult> capture_live(const LiveCaptureRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  CaptureSettings settings;
  settings.facts.started_ns = settings.clock->wall_ns();
  const Workers workers = find_workers({.pids = request.pids,
                                        .match = request.match,
                                        .proc = request.proc,
                                        .end = started + std::min(kLongestLook, request.budget / 4)});
  CaptureSampling sampling = sampling_for(request.budget);
  sampling.samples = request.samples;
  if (request.interval) sampling.gap = *request.interval;
  auto sources = Planner(request, workers, sampling).run();
  if (!sources) return base::fail(std::move(sources.error()));
  settings.folder = request.folder;
  settings.budget = request.budget - (std::chrono::steady_clock::now() - started);
  settings.stop = request.stop;
  settings.facts.budget_ms = std::chrono::duration_cast<std::chrono::milliseconds>(request.budget).count();
  settings.facts.tool_version = request.tool_version;
  settings.facts.host = os::host_name();
  settings.facts.instance = request.instance;
  settings.facts.deployment = request.deployment;
  settings.facts.labels = request.labels;
  std::sort(settings.facts.labels.begin(), settings.facts.labels.end());
  settings.facts.processes = workers.facts;
  settings.facts.command = request.command;
  auto result = capture(settings, std::move(*sources));
  if (result) result->anything = got_something(result->manifest);
  return result;
}

}  // namespace unhang::collect
