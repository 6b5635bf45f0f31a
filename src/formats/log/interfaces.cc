// SPDX-License-Identifier: Apache-2.0
#include "formats/log/interfaces.h"

#include <algorithm>
#include <array>

namespace unhang::formats::log {

bool is_virtual_interface(std::string_view name) {
  constexpr std::array<std::string_view, 24> kStems{
      "docker",       "veth",   "br-",  "virbr", "cali",  "cni",   "flannel", "lxc",
      "lxdbr",        "vnet",   "tap",  "tun",   "dummy", "ifb",   "cilium",  "kube-",
      "nodelocaldns", "podman", "wlan", "wlp",   "wwan",  "tunl0", "vxlan",   "usb"};
  return name == "lo" || std::any_of(kStems.begin(), kStems.end(),
                                     [&](std::string_view stem) { return name.starts_with(stem); });
}

}  // namespace unhang::formats::log
