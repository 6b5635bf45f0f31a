// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "formats/log/device_reports.h"
#include "formats/log/interfaces.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr int kLinesOfBridge = 200;  // lspci -vvv prints some sixty
constexpr int kGidRows = 1024;
constexpr int kPortLines = 16;
constexpr std::int64_t kSmallSharedMemory = 64;  // MiB: what Docker gives unless it is told

bool add(LogEventKind kind, std::string_view subject, const Line& line, Facts& facts,
         std::string_view detail = {}, std::int64_t code = 0) {
  LogEvent event;
  event.kind = kind;
  event.subject = shown(subject);
  event.detail = shown(detail);
  event.code = code;
  facts.add(std::move(event), line);
  return true;
}

bool add_down(std::string_view device, const Line& line, Facts& facts) {
  if (device.empty() || is_virtual_interface(device)) return true;
  return add(LogEventKind::kLinkDown, device, line, facts);
}

// Requests, completions, upstream forwarding or egress control: each of them sends transfers between devices
// up to the root. Source validation (bit 0) alone does not (PCI Express Base Specification, 7.7.8.3).
constexpr std::uint64_t kRedirects = 0x3c;

bool redirects(std::string_view control) {
  return has(control, "ReqRedir+") || has(control, "CmpltRedir+") || has(control, "UpstreamFwd+") ||
         has(control, "EgressCtrl+");
}

}  // namespace

bool NvlinkStatus::take(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  if (text.starts_with("GPU ") && has(text, "(UUID: ")) {
    x_gpu = shown(before(text, ":"));
    return true;
  }
  if (has(text, "all links are inActive") || has(text, "all links are inactive")) {
    return add(LogEventKind::kNvlinkInactive, x_gpu, line, facts);
  }
  const auto link = behind(text, "Link ");
  if (!link || !has(*link, "<inactive>")) return false;
  const auto number = leading_number(*link);
  if (!number) return false;
  return add(LogEventKind::kNvlinkInactive,
             (x_gpu.empty() ? std::string() : x_gpu + " ") + "link " + std::to_string(*number), line, facts);
}

bool AccessControl::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (x_lines_left > 0) --x_lines_left;
  if (const auto capability = behind(text, "(cap 0d @")) {  // setpci -v … ECAP_ACS+6.w
    const auto value = behind(*capability, "= ");
    const auto bits = value ? leading_hex(*value) : std::nullopt;
    if (!bits) return false;
    if ((*bits & kRedirects) != 0) add(LogEventKind::kAcsEnabled, pci_address(text), line, facts);
    return true;
  }
  // The head of a device stands at the margin: "0000:40:01.1 PCI bridge: …".
  const std::string_view word = up_to(text, " \t");
  if (word.size() >= 7 && pci_address(word) == word) {
    const bool bridge = has(text, "PCI bridge:");
    x_endpoint = !bridge;
    x_bridge = bridge ? std::string(word) : std::string();
    x_lines_left = bridge ? kLinesOfBridge : 0;
    return bridge;
  }
  const auto control = behind(text, "ACSCtl:");
  if (!control) return false;
  const bool at_bridge = x_lines_left > 0;
  if (!at_bridge && x_endpoint) return true;
  bool on = redirects(*control);
  if (const std::string_view value = trimmed(*control); value.starts_with("0x")) {
    on = (leading_hex(value).value_or(0) & kRedirects) != 0;
  }
  if (on)
    add(LogEventKind::kAcsEnabled, at_bridge ? std::string_view(x_bridge) : std::string_view(), line, facts);
  return true;
}

bool AdapterReport::take(const Line& line, Facts& facts) {
  return take_gid(line, facts) || take_port(line, facts);
}

bool AdapterReport::take_gid(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  const auto add_gid = [&](std::string_view device, std::int64_t index, std::string_view gid,
                           std::string_view type) {
    LogEvent event;
    event.kind = LogEventKind::kGidTable;
    event.code = index;
    event.subject = shown(type);
    event.peer = shown(device);
    event.detail = shown(gid);
    facts.add(std::move(event), line);
    return true;
  };
  // ibv_devinfo -v: "GID[  3]:  ::ffff:10.0.0.1, RoCE v2"
  if (text.starts_with("GID[")) {
    const auto index = leading_number(text.substr(4));
    const auto rest = behind(text, "]:");
    if (!index || !rest) return false;
    const std::string_view gid = up_to(trimmed(*rest), ", \t");
    const auto type = behind(*rest, ", ");
    return add_gid(x_device, *index, gid, type ? trimmed(*type) : std::string_view());
  }
  const std::vector<std::string_view> words = words_of(text, 8);
  if (words.size() > 4 && words[0] == "DEV" && words[1] == "PORT" && words[2] == "INDEX") {
    x_gid_rows = kGidRows;
    return true;
  }
  if (x_gid_rows == 0) return false;
  --x_gid_rows;
  if (text.starts_with("---") || text.empty()) return true;
  // show_gids: "mlx5_0  1  3  0000:…:ffff:0a00:0001  10.0.0.1  v2  ens1"
  if (words.size() < 5 || !all_digits(words[1]) || !all_digits(words[2]) || !has(words[3], ":")) {
    x_gid_rows = 0;
    return false;
  }
  const bool v1 = std::find(words.begin(), words.end(), "v1") != words.end();
  const bool v2 = std::find(words.begin(), words.end(), "v2") != words.end();
  return add_gid(words[0], leading_number(words[2]).value_or(-1), words[3],
                 v2   ? "RoCE v2"
                 : v1 ? "RoCE v1"
                      : "");
}

bool AdapterReport::take_port(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  if (x_port_lines > 0) --x_port_lines;
  if (const auto device = behind(text, "hca_id:")) {  // ibv_devinfo
    x_device = shown(first_word(*device));
    return true;
  }
  if (text.starts_with("CA '")) {  // ibstat
    x_device = shown(before(text.substr(4), "'"));
    x_port_lines = kPortLines;
    return true;
  }
  if (const auto device = behind(text, "Infiniband device '")) {  // ibstatus
    x_device = shown(before(*device, "'"));
    x_port_lines = kPortLines;
    return true;
  }
  if (has(text, "PORT_DOWN")) return add_down(x_device, line, facts);
  if (x_port_lines > 0 &&
      (text == "State: Down" || (text.starts_with("state:") && text.ends_with("1: DOWN")))) {
    return add_down(x_device, line, facts);
  }
  if (const auto netdev = behind(text, " ==> ")) {  // ibdev2netdev
    if (!has(text, " port ")) return false;
    return has(*netdev, "(Down)") ? add_down(first_word(text), line, facts) : has(*netdev, "(Up)");
  }
  if (has(text, "state DOWN")) {
    // rdma link: "link mlx5_0/1 state DOWN …"; ip link: "3: ens1f0np0: <NO-CARRIER,…> mtu 1500 … state DOWN".
    if (text.starts_with("link ")) return add_down(up_to(text.substr(5), "/ "), line, facts);
    const auto name = behind(text, ": ");
    if (!name || !has(text, ": <") || !is_digit(text.front())) return false;
    return add_down(up_to(*name, ":@"), line, facts);
  }
  // ip -br link
  if (has(text, "<NO-CARRIER") && has(text, " DOWN ")) return add_down(up_to(text, "@ \t"), line, facts);
  return false;
}

bool take_limit(const Line& line, Facts& facts) {
  const std::string_view text = trimmed(line.message);
  if (text.ends_with(" /dev/shm")) {
    const std::vector<std::string_view> words = words_of(text, 8);
    if (words.size() != 6 || !words[4].ends_with('%')) return false;
    const auto mib = words[1].ends_with('M') ? leading_number(words[1]) : std::nullopt;
    const bool kib = all_digits(words[1]) && leading_number(words[1]).value_or(0) <= kSmallSharedMemory << 10;
    if (words[4] == "100%") return add(LogEventKind::kSharedMemoryFailed, "/dev/shm", line, facts, words[1]);
    if ((mib && *mib <= kSmallSharedMemory) || kib) {
      add(LogEventKind::kEnvironment, "/dev/shm", line, facts, words[1]);
    }
    return true;
  }
  if (has(text, "max locked memory") && has(text, "-l)")) {
    const std::string_view limit = last_word(text);
    if (limit != "unlimited" && !all_digits(limit)) return false;
    if (limit != "unlimited") add(LogEventKind::kEnvironment, "ulimit -l", line, facts, limit);
    return true;
  }
  return false;
}

}  // namespace unhang::formats::log
