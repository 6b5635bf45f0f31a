// SPDX-License-Identifier: Apache-2.0
//
// GPUs and RDMA adapters: what is on the PCI bus, what of it can be used from here, and whether NVIDIA's
// library is of the release of the kernel's module.
#include <algorithm>

#include "collect/node_parts.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kMostDevices = 4096;

// 0x10de is NVIDIA's number, 0x15b3 Mellanox's, 0x1d0f Amazon's (whose EFA adapters are devices 0xefa…).
bool is_gpu(std::string_view vendor, std::string_view kind) {
  return vendor == "0x10de" && (kind.starts_with("0x0300") || kind.starts_with("0x0302"));
}
bool is_rdma_capable(std::string_view vendor, std::string_view kind, std::string_view device) {
  return kind.starts_with("0x02") &&
         (vendor == "0x15b3" || (vendor == "0x1d0f" && device.starts_with("0xefa")));
}

std::string_view line_of(const os::ReadReply& reply) {
  return std::string_view(reply.bytes).substr(0, reply.bytes.find('\n'));
}

void look_at_bus(const NodeView& view, model::NodeDevices& devices) {
  const std::string folder = view.look.sys + "/bus/pci/devices";
  std::vector<std::string> names = view.names_in(folder);
  devices.sys_readable = !names.empty();
  if (names.size() > kMostDevices) names.resize(kMostDevices);
  std::vector<os::ReadRequest> requests;
  for (const std::string& name : names) {
    for (const char* file : {"/vendor", "/class", "/device"})
      requests.push_back({.path = folder + "/" + name + file, .max_bytes = 64});
  }
  const auto replies = os::read_in_child(requests, view.deadlines);
  constexpr std::size_t kFiles = 3;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view vendor = line_of(replies[i * kFiles]), kind = line_of(replies[i * kFiles + 1]);
    if (is_gpu(vendor, kind)) devices.gpus.push_back(names[i]);
    if (is_rdma_capable(vendor, kind, line_of(replies[i * kFiles + 2])))
      devices.rdma_capable.push_back(names[i]);
  }
}

bool is_numbered(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() > start.size() &&
         name.find_first_not_of("0123456789", start.size()) == std::string_view::npos;
}

// `dev`: as the workers see it.
void look_at_nodes(const NodeView& view, const std::string& dev, model::NodeDevices& devices) {
  bool control = false, memory = false;
  for (const std::string& name : view.names_in(dev)) {
    if (is_numbered(name, "nvidia")) devices.gpu_nodes.push_back(name);
    control = control || name == "nvidiactl";
    memory = memory || name == "nvidia-uvm";
  }
  devices.gpu_control = control && memory;
  const auto names = view.names_in(dev + "/infiniband");
  devices.rdma_nodes = std::any_of(names.begin(), names.end(),
                                   [](const std::string& name) { return name.starts_with("uverbs"); });
}

// The release in "libnvidia-ml.so.550.54.15"; empty for "libnvidia-ml.so.1".
std::string release_in_name(std::string_view name) {
  constexpr std::string_view kStart = "libnvidia-ml.so.";
  if (!name.starts_with(kStart)) return {};
  const std::string_view rest = name.substr(kStart.size());
  if (rest.find('.') == std::string_view::npos ||
      rest.find_first_not_of("0123456789.") != std::string_view::npos)
    return {};
  return std::string(rest);
}

void look_for_library(const NodeView& view, const std::string& reach, model::NodeDevices& devices) {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64",
        "/usr/lib", "/opt/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64"}) {
    std::vector<std::string> releases;
    for (const std::string& name : view.names_in(reach + folder)) {
      std::string release = release_in_name(name);
      if (!release.empty()) releases.push_back(std::move(release));
    }
    if (releases.empty()) continue;
    std::string release = releases.front();
    if (releases.size() > 1) {
      const auto link = os::read_in_child(
          os::ReadRequest{.kind = os::ReadKind::kLink, .path = reach + folder + "/libnvidia-ml.so.1"},
          view.deadlines);
      release = release_in_name(std::string_view(link.bytes).substr(link.bytes.rfind('/') + 1));
    }
    if (release.empty()) continue;
    devices.driver_library = std::move(release);
    devices.driver_library_path = folder;
    return;
  }
}

}  // namespace

std::string kernel_driver_of(std::string_view version) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …", "… Open Kernel Module for x86_64
  // 570.…"
  const std::size_t module = version.find("Kernel Module");
  if (module == std::string_view::npos) return {};
  version = version.substr(module, version.find('\n', module) - module);
  for (std::size_t at = version.find(' '); at != std::string_view::npos;) {
    const std::size_t begin = version.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(version.find(' ', begin), version.size());
    const std::string_view word = version.substr(begin, end - begin);
    if (word.find('.') != std::string_view::npos &&
        word.find_first_not_of("0123456789.") == std::string_view::npos)
      return std::string(word);
    at = end == version.size() ? std::string_view::npos : end;
  }
  return {};
}

void look_at_devices(const NodeView& view, model::NodeFacts& facts) {
  model::NodeDevices& devices = facts.devices;
  look_at_bus(view, devices);
  const std::string reach = facts.workers.empty() ? std::string() : view.reach_of(0);
  look_at_nodes(view, reach.empty() ? view.look.dev : reach + "/dev", devices);
  devices.rdma = view.names_in(view.look.sys + "/class/infiniband");
  devices.kernel_driver = kernel_driver_of(view.read(view.look.proc + "/driver/nvidia/version"));
  look_for_library(view, reach, devices);
}

}  // namespace unhang::collect
