// SPDX-License-Identifier: Apache-2.0
#include "collect/system_source.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "collect/fact_tree.h"
#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "collect/worker_limits.h"
#include "os/clock_state.h"
#include "os/memory_folder.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSharedMemory = "/dev/shm";
constexpr std::uint64_t kMaxFile = 1 << 20;
constexpr std::size_t kMaxWorkers = 1024;

// Read of each worker, in this order.
enum WorkerFile { kLimits, kStatus, kCgroup, kMountinfo, kOomScore, kWorkerFiles };
constexpr const char* kWorkerFileNames[kWorkerFiles] = {"limits", "status", "cgroup", "mountinfo",
                                                        "oom_score"};

const std::vector<std::string>& status_names() {
  static const std::vector<std::string> names{"State",
                                              "Threads",
                                              "VmRSS",
                                              "VmLck",
                                              "VmPin",
                                              "VmSwap",
                                              "CapEff",
                                              "Seccomp",
                                              "NoNewPrivs",
                                              "Cpus_allowed_list",
                                              "Mems_allowed_list",
                                              "voluntary_ctxt_switches",
                                              "nonvoluntary_ctxt_switches"};
  return names;
}

const std::vector<std::string>& cgroup_files() {
  static const std::vector<std::string> names{"memory.max",
                                              "memory.high",
                                              "memory.current",
                                              "memory.events",
                                              "memory.swap.max",
                                              "memory.oom.group",
                                              "cpu.max",
                                              "cpu.stat",
                                              "cpu.pressure",
                                              "memory.pressure",
                                              "pids.max",
                                              "pids.current",
                                              "cpuset.cpus.effective",
                                              "memory.limit_in_bytes",
                                              "memory.usage_in_bytes",
                                              "memory.failcnt",
                                              "memory.oom_control"};
  return names;
}

Json texts(const std::map<std::string, std::string>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

class SystemReader {
 public:
  SystemReader(const SystemPlace& place, CaptureNames& names, CaptureContext& context)
      : x_place(place), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    const std::int64_t taken = x_tally.context().wall_ns();
    Json out{{"schema", "unhang.system/1"}, {"host", x_place.host}, {"taken", base::utc_text(taken)}};
    out["machine"] = machine();
    out["clock"] = clock();
    out["workers"] = Json::array();
    out["cgroups"] = Json::array();
    add_workers(out);
    model::BundleFile facts;
    facts.captured_ns = taken;
    facts.path = x_names.next("system", taken, x_place.host.empty() ? "host" : x_place.host, ".json");
    x_tally.keep(out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", std::move(facts));
    return x_tally.outcome({});
  }

 private:
  Json machine() {
    // The kernel's own release, whether it may be asked, and how much of what there is.
    static const std::vector<std::pair<std::string, std::string>> files{
        {"kernel", "sys/kernel/osrelease"},
        {"kernel_version", "sys/kernel/version"},
        {"boot_id", "sys/kernel/random/boot_id"},
        {"uptime", "uptime"},
        {"load", "loadavg"},
        {"dmesg_restrict", "sys/kernel/dmesg_restrict"},
        {"ptrace_scope", "sys/kernel/yama/ptrace_scope"},
        {"hung_task_timeout", "sys/kernel/hung_task_timeout_secs"},
        {"overcommit_memory", "sys/vm/overcommit_memory"},
        {"max_map_count", "sys/vm/max_map_count"},
        {"pid_max", "sys/kernel/pid_max"},
        {"shmmni", "sys/kernel/shmmni"}};
    std::vector<std::string> paths;
    for (const auto& [name, path] : files) paths.push_back(x_place.proc + "/" + path);
    const std::string module = x_place.sys + "/module/nvidia/version", memory = x_place.proc + "/meminfo";
    paths.push_back(module);
    paths.push_back(memory);
    auto values = read_values(paths, x_tally);
    Json out = Json::object();
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (const auto found = values.find(paths[i]); found != values.end())
        out[files[i].first] = found->second;
    }
    if (const auto found = values.find(module); found != values.end()) out["nvidia_module"] = found->second;
    const auto amounts = status_values(values[memory], {"MemTotal", "MemFree", "MemAvailable", "Shmem",
                                                        "SwapFree", "HugePages_Total", "HugePages_Free"});
    if (!amounts.empty()) out["memory"] = texts(amounts);
    return out;
  }

  Json clock() const {
    const os::ClockState state = os::clock_state();
    if (!state.known) return nullptr;
    return {{"synchronised", state.synchronised},
            {"offset_ns", state.offset_ns},
            {"estimated_error_us", state.estimated_error_us},
            {"maximum_error_us", state.maximum_error_us}};
  }

  void add_workers(Json& out) {
    std::vector<os::ReadRequest> requests;
    std::size_t count = std::min(x_place.workers.size(), kMaxWorkers);
    for (std::size_t i = 0; i < count; ++i) {
      for (const char* name : kWorkerFileNames)
        requests.push_back({.path = x_place.proc + "/" + std::to_string(x_place.workers[i].pid) + "/" + name,
                            .max_bytes = kMaxFile,
                            .group = i});
    }
    const auto replies = os::read_in_child(requests, x_tally.read_deadlines());
    std::vector<std::string> folders;
    for (std::size_t i = 0; i < count; ++i) {
      const os::ReadReply* files = &replies[i * kWorkerFiles];
      for (int file = 0; file < kWorkerFiles; ++file) {
        if (!files[file].usable() && files[file].error != ENOENT && files[file].error != ESRCH)
          x_tally.not_readable(requests[i * kWorkerFiles + static_cast<std::size_t>(file)].path, files[file]);
      }
      out["workers"].push_back(worker(x_place.workers[i], files));
      for (const std::string& folder : cgroup_folders(files[kCgroup].bytes)) {
        if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
      }
    }
    if (count < x_place.workers.size())
      x_tally.note("only the first " + std::to_string(count) + " workers were looked at");
    for (const std::string& folder : folders) add_cgroup(folder, out["cgroups"]);
  }

  Json worker(const os::Process& process, const os::ReadReply* files) const {
    Json out{{"pid", process.pid}, {"name", process.name}};
    Json limits = Json::object();
    for (const auto& [name, values] : limits_of(files[kLimits].bytes))
      limits[name] = {{"soft", values.first}, {"hard", values.second}};
    out["limits"] = std::move(limits);
    out["status"] = texts(status_values(files[kStatus].bytes, status_names()));
    out["oom_score"] = std::string(without_space_around(files[kOomScore].bytes));
    out["cgroups"] = cgroup_folders(files[kCgroup].bytes);
    out["shared_memory"] = shared_memory(process, files[kMountinfo].bytes);
    out["libraries"] = process.libraries;
    Json visible = Json::object();
    for (const auto& [name, value] : process.environment) {
      if (name.ends_with("VISIBLE_DEVICES") && may_be_kept(name)) visible[name] = value;
    }
    out["visible_devices"] = std::move(visible);
    return out;
  }

  static Json shared_memory(const os::Process& process, std::string_view mounts) {
    const Mount mount = mount_at(mounts, kSharedMemory);
    if (mount.type.empty()) return nullptr;
    Json out{{"type", mount.type}, {"options", mount.options}};
    // Another file system may have a server that does not answer; it is not asked.
    const auto room = mount.type == "tmpfs" ? os::memory_folder_room(process.root, std::string(kSharedMemory))
                                            : std::nullopt;
    if (room) {
      out["bytes"] = room->bytes;
      out["free_bytes"] = room->free_bytes;
    }
    return out;
  }

  void add_cgroup(const std::string& folder, Json& out) {
    std::vector<os::ReadRequest> requests;
    for (const std::string& name : cgroup_files())
      requests.push_back(
          {.root = x_place.sys + "/fs/cgroup", .path = folder + "/" + name, .max_bytes = 64 << 10});
    const auto replies = os::read_in_child(requests, x_tally.read_deadlines());
    Json values = Json::object();
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].usable() && replies[i].is_regular)
        values[cgroup_files()[i]] = std::string(without_space_around(replies[i].bytes));
    }
    if (!values.empty()) out.push_back({{"folder", folder}, {"values", std::move(values)}});
  }

  const SystemPlace& x_place;
  CaptureNames& x_names;
  SourceTally x_tally;
};

}  // namespace

CaptureSource system_source(std::string id, SystemPlace place, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "system";
  source.asked_kind = "path";
  source.asked = place.proc;
  source.run = [place = std::move(place), names = std::move(names)](CaptureContext& context) {
    return SystemReader(place, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
