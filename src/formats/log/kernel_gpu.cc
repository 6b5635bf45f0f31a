// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "formats/log/kernel_messages.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr int kLinesOfRecord = 8;  // the driver prints three; others may print in between
constexpr std::size_t kGpuTables = 4096;
constexpr std::int64_t kRecoveryXid = 154;

LogEvent event(LogEventKind kind, std::string_view subject = {}) {
  LogEvent out;
  out.kind = kind;
  out.subject = shown(subject);
  return out;
}

// "(PCI:0000:01:00 GPU-I:05): 94, rest" behind the bracket: the address, the number and what follows.
struct XidParts {
  std::string_view address, rest;
  std::int64_t number = -1;
};

std::optional<XidParts> xid_parts(std::string_view text) {
  const std::size_t close = text.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  XidParts parts;
  parts.address = pci_address(text.substr(0, close));
  std::string_view rest = text.substr(close + 1);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  rest = trimmed(rest);
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits == 0 || digits > 6) return std::nullopt;
  parts.number = *leading_number(rest.substr(0, digits));
  rest.remove_prefix(digits);
  if (!rest.empty() && rest.front() != ',' && rest.front() != ' ' && rest.front() != '.') return std::nullopt;
  if (rest.starts_with(',')) rest.remove_prefix(1);
  parts.rest = trimmed(rest);
  return parts;
}

// Channel numbers differ in each of a hundred lines that tell the same; the previous Xid has a field.
std::string without_channels(std::string_view rest) {
  std::string out;
  for (const std::string_view piece : cells_of(rest, ',', 64)) {
    if (piece.starts_with("Ch ") || piece.starts_with("Channel ID") ||
        piece.starts_with("caused by previous")) {
      continue;
    }
    if (!out.empty()) out += ", ";
    out += piece;
  }
  return shown(out);
}

// The unit of an NVLink 5 line: "RLW_RXPIPE Nonfatal XC0 i0 Link 13"; also "NVLink: fatal error detected".
std::int32_t severity_of(std::string_view rest) {
  if (has(rest, " Nonfatal ") || has(rest, " Non-fatal ") || has(rest, "non-fatal error")) return 0;
  if (has(rest, " Fatal ") || has(rest, "NVLink: fatal error")) return 1;
  return -1;
}

bool take_xid(std::string_view text, const Line& line, Facts& facts) {
  const auto parts = xid_parts(text);
  if (!parts) return false;
  if (parts->number == kRecoveryXid) {
    if (const auto to = behind(parts->rest, " to ")) {
      if (const auto action = leading_hex(*to)) {
        LogEvent changed = event(LogEventKind::kRecoveryAction, parts->address);
        changed.code = static_cast<std::int64_t>(*action & 0xffff);
        facts.add(std::move(changed), line);
        return true;
      }
    }
  }
  LogEvent xid = event(LogEventKind::kXid, parts->address);
  xid.code = parts->number;
  xid.rank = severity_of(parts->rest);
  if (const auto previous = behind(parts->rest, "previous Xid ")) {
    if (const auto number = leading_number(*previous)) xid.peer = std::to_string(*number);
  }
  xid.detail = without_channels(parts->rest);
  facts.add(std::move(xid), line);
  return true;
}

// Text, severity and data words are lines of their own, in any order: the one with the text counts.
bool take_sxid(std::string_view text, const Line& line, Facts& facts) {
  const auto parts = xid_parts(text);
  if (!parts) return false;
  if (parts->rest.starts_with("Severity ") || parts->rest.starts_with("Data ")) return true;
  LogEvent sxid = event(LogEventKind::kSxid, parts->address);
  sxid.code = parts->number;
  std::string_view rest = parts->rest;
  if (rest.starts_with("Fatal")) {
    sxid.rank = 1;
  } else if (rest.starts_with("Non-fatal") || rest.starts_with("Nonfatal")) {
    sxid.rank = 0;
  }
  if (sxid.rank >= 0) {
    rest.remove_prefix(up_to(rest, ", ").size());
    while (rest.starts_with(',') || rest.starts_with(' ')) rest.remove_prefix(1);
  }
  sxid.detail = shown(rest);
  facts.add(std::move(sxid), line);
  return true;
}

// The device plugin of Kubernetes: "XidCriticalError: Xid=48 on Device=GPU-…".
bool take_plugin_xid(std::string_view text, const Line& line, Facts& facts) {
  const auto number = behind(text, "Xid=");
  if (!number) return false;
  const auto code = leading_number(*number);
  if (!code) return false;
  LogEvent xid = event(LogEventKind::kXid);
  xid.code = *code;
  if (const auto device = behind(*number, "Device=")) xid.subject = shown(up_to(*device, ", "));
  facts.add(std::move(xid), line);
  return true;
}

// nvidia-smi: "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error", "GPU3:
// 0000:5F:00.0: Unknown Error", "GPU2: Unknown Error".
bool take_no_handle(std::string_view text, const Line& line, Facts& facts) {
  std::string_view subject = pci_address(text);
  if (subject.empty() && text.starts_with("GPU")) subject = up_to(text, ": \t");
  facts.add(event(LogEventKind::kGpuLost, subject), line);
  return true;
}

bool take_uuid(std::string_view text, Facts& facts) {
  const std::string_view address = pci_address(text);
  const std::size_t at = find_text(text, "GPU-");
  if (address.empty() || at == std::string_view::npos) return false;
  model::GpuTable gpu;
  gpu.fields = {{"pci.bus_id", std::string(address)}, {"uuid", shown(up_to(text.substr(at), " ,)"))}};
  for (const model::GpuTable& known : facts.log().gpus) {
    if (known.fields == gpu.fields) return true;
    if (&known - facts.log().gpus.data() > 256) break;  // enough for one machine
  }
  if (facts.log().gpus.size() < kGpuTables) facts.log().gpus.push_back(std::move(gpu));
  return true;
}

std::string_view version_at(std::string_view text) {
  std::string_view version = up_to(text, ", ");
  while (version.ends_with('.')) version.remove_suffix(1);  // the end of the sentence
  return version;
}

std::string_view version_in(std::string_view text) {
  const auto version = behind(text, "has the version ");
  return version ? version_at(*version) : std::string_view();
}

// The module for GPUDirect RDMA cannot be used.
bool take_peermem(std::string_view text, const Line& line, Facts& facts) {
  if (!has(text, "ib_register_peer_memory_client") && !has(text, "could not insert")) return false;
  if (!has(text, "isagrees about version") && !has(text, "nknown symbol") && !has(text, "could not insert")) {
    return false;
  }
  facts.add(event(LogEventKind::kGpuDirectDisabled), line);
  return true;
}

}  // namespace

void GpuDriverMessages::wait(Waiting what, const Line& line, std::string_view subject) {
  x_waiting = what;
  x_lines_left = kLinesOfRecord;
  x_first = line;
  x_subject = shown(subject);
}

bool GpuDriverMessages::take(const Line& line, Facts& facts) {
  if (x_lines_left > 0) {
    --x_lines_left;
    if (take_waiting(line, facts)) return true;
  }
  return take_new(line, facts);
}

bool GpuDriverMessages::take_waiting(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (x_waiting == Waiting::kFallenOff) {
    if (has(text, "installed in this system has") || has(text, "fallen off the bus")) {
      if (!has(text, "fallen off the bus")) return true;
      x_lines_left = 0;
      LogEvent lost = event(LogEventKind::kGpuLost, x_subject);
      lost.text =
          "The NVIDIA GPU " + x_subject + " has fallen off the bus and is not responding to commands.";
      Line first = line;
      first.number = x_first.number;
      if (x_first.time.known()) first.time = x_first.time;
      first.origin = x_first.origin;
      facts.add(std::move(lost), first);
      return true;
    }
    if (has(text, "installed in this system is not supported")) x_lines_left = 0;
    return false;
  }
  if (x_waiting == Waiting::kModuleVersion && has(text, "kernel module has the version")) {
    x_lines_left = 0;
    LogEvent mismatch = event(LogEventKind::kDriverMismatch);
    mismatch.detail = shown("client " + x_subject + ", kernel module " + std::string(version_in(text)));
    Line first = line;
    first.number = x_first.number;
    mismatch.text = "NVRM: API mismatch: " + mismatch.detail;
    facts.add(std::move(mismatch), first);
    return true;
  }
  return false;
}

bool GpuDriverMessages::take_new(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto sxid = behind(text, "SXid (")) return take_sxid(*sxid, line, facts);
  if (const auto xid = behind(text, "Xid (")) return take_xid(*xid, line, facts);
  if (has(text, "XidCriticalError")) return take_plugin_xid(text, line, facts);
  if (const auto handle = behind(text, "Unable to determine the device handle for ")) {
    return take_no_handle(*handle, line, facts);
  }
  if (const auto gpu = behind(text, "NVRM: GPU at ")) {
    if (take_uuid(*gpu, facts)) return true;
  }
  if (has(text, "allen off the bus") || has(text, "GPU is lost")) {
    // Programs and documents name the same words in quotes.
    const std::string_view address = pci_address(text);
    const bool of_driver = line.kernel || has(text, "NVRM") || !address.empty();
    if (!of_driver && text.find_first_of("\"`\'") != text.npos) return false;
    facts.add(event(LogEventKind::kGpuLost, address), line);
    return true;
  }
  if (has(text, "NV_ERR_RESET_REQUIRED") || has(text, "GSP RPC timeout detected")) {
    LogEvent reset = event(LogEventKind::kRecoveryAction, pci_address(text));
    reset.code = 1;  // as Xid 154 numbers it: GPU reset
    facts.add(std::move(reset), line);
    return true;
  }
  if (const auto gpu = behind(text, "The NVIDIA GPU ")) {
    const std::string_view address = pci_address(*gpu);
    if (address.empty()) return false;
    wait(Waiting::kFallenOff, line, address);
    return true;
  }
  if (const auto mismatch = behind(text, "NVRM: API mismatch")) {
    const std::string_view client = version_in(*mismatch);
    const auto module = behind(*mismatch, "kernel module has the version ");
    if (!module) {
      wait(Waiting::kModuleVersion, line, client);
      return true;
    }
    LogEvent event_of_both = event(LogEventKind::kDriverMismatch);
    event_of_both.detail =
        shown("client " + std::string(client) + ", kernel module " + std::string(version_at(*module)));
    facts.add(std::move(event_of_both), line);
    return true;
  }
  if (has(text, "RmInitAdapter failed") || has(text, "rm_init_adapter failed")) {
    facts.add(event(LogEventKind::kGpuInitFailed, pci_address(text)), line);
    return true;
  }
  if (const auto probe = behind(text, "nvidia: probe of ")) {
    if (!has(*probe, " failed with error")) return false;
    facts.add(event(LogEventKind::kGpuInitFailed, pci_address(*probe)), line);
    return true;
  }
  if (has(text, "peermem") || has(text, "nv_peer_mem")) return take_peermem(text, line, facts);
  if (has(text, "ncorrectable ECC") || has(text, "double bit error")) {
    if (!line.kernel && !has(text, "NVRM")) return false;
    facts.add(event(LogEventKind::kEccError, pci_address(text)), line);
    return true;
  }
  return false;
}

void GpuDriverMessages::finish(Facts& facts) {
  // A mismatch whose second line was cut off is one all the same; the name of a GPU alone says nothing.
  if (x_lines_left == 0 || x_waiting != Waiting::kModuleVersion) return;
  LogEvent mismatch = event(LogEventKind::kDriverMismatch);
  mismatch.detail = shown("client " + x_subject);
  mismatch.text = "NVRM: API mismatch";
  Line line = x_first;
  line.whole = line.message = {};
  facts.add(std::move(mismatch), line);
  x_lines_left = 0;
}

}  // namespace unhang::formats::log
