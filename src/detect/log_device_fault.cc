// SPDX-License-Identifier: Apache-2.0
//
// A GPU or its NVLink that failed, as the kernel log tells: Xid, SXid, a device that fell off the bus. What
// an Xid means and whether it is a cause follows NVIDIA's catalogue; 45 never is one.
#include <algorithm>
#include <map>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

enum class XidClass { kIgnored, kConsequence, kNote, kApplication, kDevice, kNvlink, kLost };

// NVIDIA's Xid catalogue (nverror.h of the open kernel module and the published tables), read for the
// question "did this stop the communication".
XidClass class_of(std::int64_t xid) {
  switch (xid) {
    case 45:
      return XidClass::kConsequence;
    case 13:
    case 31:
    case 32:
    case 43:
    case 68:
    case 69:
    case 137:
      return XidClass::kApplication;
    case 74:
    case 144:
    case 145:
    case 146:
    case 147:
    case 148:
    case 149:
    case 150:
      return XidClass::kNvlink;
    case 79:
      return XidClass::kLost;
    case 63:
    case 92:
    case 121:
    case 123:
    case 124:
    case 125:
    case 171:
    case 172:
      return XidClass::kNote;
    case 38:
    case 46:
    case 48:
    case 61:
    case 62:
    case 64:
    case 94:
    case 95:
    case 109:
    case 119:
    case 120:
    case 136:
    case 140:
    case 143:
      return XidClass::kDevice;
    default:
      return XidClass::kIgnored;
  }
}

// "45 … caused by previous Xid 149" tells of 149, where nothing else does.
std::int64_t xid_of(const LogEvent& event) {
  if (event.code != 45 || event.peer.empty()) return event.code;
  std::int64_t previous = 0;
  for (const char c : event.peer) {
    if (c >= '0' && c <= '9' && previous < 100'000) previous = previous * 10 + (c - '0');
  }
  return previous > 0 ? previous : event.code;
}

std::string xid_words(std::int64_t xid) {
  switch (xid) {
    case 31:
      return "memory page fault of a kernel";
    case 13:
      return "an illegal instruction or address in a kernel";
    case 43:
      return "the GPU stopped work of a program after its fault";
    case 48:
      return "double-bit memory error";
    case 64:
      return "row remapping failed";
    case 74:
      return "NVLink error";
    case 79:
      return "the GPU has fallen off the bus";
    case 94:
      return "contained memory error";
    case 95:
      return "uncontained memory error";
    case 109:
      return "context switch time-out";
    case 119:
      return "the GPU's system processor does not answer";
    case 120:
      return "error of the GPU's system processor";
    case 137:
      return "access to a peer that is not allowed";
    case 144:
    case 145:
    case 146:
    case 147:
    case 148:
    case 149:
    case 150:
      return "NVLink 5 error";
    default:
      return "GPU error";
  }
}

std::string gpu_text(const LogAnalysis& logs, const LogEvent& event) {
  const std::string& host = logs.origin(event.origin).host;
  std::string out = event.subject.empty() || event.subject.find("...") != std::string::npos
                        ? std::string("a GPU")
                        : "GPU " + event.subject;
  return host.empty() ? out : out + " of " + host;
}

// "00000000:3B:00.0", "0000:3b:00" and "3b:00.0" are one device: "3b:00"; a domain other than 0 stays.
std::string bus_and_device(const std::string& address) {
  std::string out;
  for (const char c : address.substr(0, address.find('.')))
    out += static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
  const std::size_t colon = out.find(':');
  const bool with_domain = colon != std::string::npos && out.find(':', colon + 1) != std::string::npos;
  if (with_domain && out.find_first_not_of('0') >= colon) out.erase(0, colon + 1);
  return out;
}

void name_gpus(const LogAnalysis& logs, const EventRefs& events, bool suspects_only, Explanation& out) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const LogEvent* event : events) {
    if (event->subject.empty() || event->subject.find("...") != std::string::npos) continue;
    if (!seen.insert({logs.origin(event->origin).host, bus_and_device(event->subject)}).second) continue;
    model::Subject subject = gpu_subject(logs, event->origin, event->subject);
    subject.why = event->kind == LogEventKind::kXid
                      ? "Xid " + std::to_string(xid_of(*event)) + ", " + xid_words(xid_of(*event))
                      : event->text;
    (suspects_only ? out.other_suspects : out.other_culprits).push_back(std::move(subject));
  }
}

// Many GPUs of one fabric raise the alarm when one fails: those that were first, or that raised another Xid
// than the crowd, stand out.
EventRefs first_or_odd(const EventRefs& events) {
  std::map<std::int64_t, EventRefs> by_xid;
  for (const LogEvent* event : events) by_xid[xid_of(*event)].push_back(event);
  if (by_xid.size() < 2) return events;
  const auto fewest = std::min_element(by_xid.begin(), by_xid.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  return fewest->second;
}

void add_lost(const LogAnalysis& logs, std::vector<Explanation>& out) {
  EventRefs lost = logs.of(LogEventKind::kGpuLost);
  for (const LogEvent* xid : logs.of(LogEventKind::kXid)) {
    if (class_of(xid_of(*xid)) == XidClass::kLost) lost.push_back(xid);
  }
  if (lost.empty()) return;
  // The words alone, of no named device, may be quoted from anywhere.
  const bool named = std::any_of(lost.begin(), lost.end(), [](const LogEvent* event) {
    return !event->subject.empty() || event->text.find("NVRM") != std::string::npos;
  });
  Explanation found = log_finding(
      logs, Category::kProcessOrDeviceUnavailable, "gpu_fallen_off_bus",
      named ? Confidence::kMedium : Confidence::kLow,
      gpu_text(logs, *lost.front()) + " is gone from the PCIe bus: every rank that needs it waits", lost);
  for (const LogEvent* aer :
       logs.of_all({LogEventKind::kPcieError, LogEventKind::kPcieCorrected, LogEventKind::kPcieLinkDown}))
    found.records.push_back(cite(logs, *aer));
  name_gpus(logs, lost, false, found);
  out.push_back(std::move(found));
}

// A PCIe error that the port could not correct, and no word of the driver (yet).
void add_pcie(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs events = logs.of_all({LogEventKind::kPcieError, LogEventKind::kPcieLinkDown});
  if (events.empty() || !out.empty()) return;
  const LogEvent& first = *events.front();
  Explanation found =
      log_finding(logs, Category::kProcessOrDeviceUnavailable, "gpu_fallen_off_bus", Confidence::kLow,
                  "a PCIe link failed" + (first.subject.empty() ? "" : " at " + first.subject) +
                      ": the device behind it is lost or was reset",
                  events);
  // What is not fatal may be over, and the device need not be a GPU.
  found.tentative = std::none_of(events.begin(), events.end(), [](const LogEvent* event) {
    return event->code == 1 || event->kind == LogEventKind::kPcieLinkDown;
  });
  name_gpus(logs, events, true, found);
  out.push_back(std::move(found));
}

void add_nvlink(const LogAnalysis& logs, std::vector<Explanation>& out) {
  EventRefs fatal;
  EventRefs soft;
  for (const LogEvent* xid : logs.of(LogEventKind::kXid)) {
    if (class_of(xid_of(*xid)) != XidClass::kNvlink) continue;
    // Where an Xid states that it is not fatal, it is a note.
    (xid->rank == 0 ? soft : fatal).push_back(xid);
  }
  for (const LogEvent* sxid : logs.of(LogEventKind::kSxid)) {
    if (sxid->rank == 1) fatal.push_back(sxid);
  }
  const EventRefs& all = fatal.empty() ? soft : fatal;
  if (all.empty()) return;
  const bool told = !fatal.empty();
  if (!told && !logs.somebody_waited && logs.of(LogEventKind::kCudaError).empty() &&
      logs.of(LogEventKind::kXid).size() == soft.size() && soft.size() < 2)
    return;  // one note of a link that recovered
  const EventRefs odd = first_or_odd(all);
  Explanation found = log_finding(
      logs, Category::kTransportStall, "nvlink_fault", told ? Confidence::kMedium : Confidence::kLow,
      "NVLink failed at " + gpu_text(logs, *odd.front()) + " (" +
          (odd.front()->kind == LogEventKind::kSxid ? "SXid " : "Xid ") +
          std::to_string(xid_of(*odd.front())) + "): collectives over it cannot finish",
      all);
  const bool one = std::all_of(odd.begin(), odd.end(),
                               [&](const LogEvent* e) { return e->subject == odd.front()->subject; });
  name_gpus(logs, odd, !told || !one, found);
  found.tentative = !told;  // a link that says it is not fatal stands behind whatever is firm
  if (!one)
    found.alternatives.push_back(
        {.category = Category::kTransportStall,
         .cause = "fabric_manager",
         .speaks_for = {"several GPUs raise it together"},
         .speaks_against = {},
         .decide_by = "journalctl -u nvidia-fabricmanager; nvidia-smi -q | grep -A6 Fabric"});
  out.push_back(std::move(found));
}

void add_device(const LogAnalysis& logs, std::vector<Explanation>& out) {
  EventRefs device;
  for (const LogEvent* xid : logs.of(LogEventKind::kXid)) {
    if (class_of(xid_of(*xid)) == XidClass::kDevice) device.push_back(xid);
  }
  for (const LogEvent* event : logs.of_all({LogEventKind::kEccError, LogEventKind::kGpuInitFailed}))
    device.push_back(event);
  for (const LogEvent* event : logs.of(LogEventKind::kCudaError)) {
    // 214: uncorrectable ECC error, whatever release wrote the number
    if (event->code == 214 || event->detail.find("ECC") != std::string::npos) device.push_back(event);
  }
  for (const LogEvent* event : logs.of(LogEventKind::kRecoveryAction)) {
    if (event->code > 0) device.push_back(event);
  }
  if (device.empty()) return;
  const LogEvent& first = *device.front();
  const std::string what =
      first.kind == LogEventKind::kXid
          ? "Xid " + std::to_string(xid_of(first)) + ", " + xid_words(xid_of(first))
      : first.kind == LogEventKind::kEccError || first.kind == LogEventKind::kCudaError
          ? (first.detail.empty() ? std::string("uncorrectable memory error") : first.detail)
      : first.kind == LogEventKind::kGpuInitFailed ? std::string("the driver cannot bring it up")
                                                   : std::string("the driver asks for a reset");
  Explanation found = log_finding(logs, Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kMedium,
                                  gpu_text(logs, first) + " failed: " + what, device);
  name_gpus(logs, device, false, found);
  if (found.other_culprits.size() > 1) {
    found.other_suspects = std::move(found.other_culprits);
    found.other_culprits.clear();
  }
  if (first.subject.empty() && logs.origin(first.origin).global_rank >= 0)
    found.other_culprits.push_back(writer(logs, first.origin));
  out.push_back(std::move(found));
}

}  // namespace

std::vector<Explanation> find_log_device_fault(const Analysis& analysis) {
  std::vector<Explanation> out;
  if (!analysis.logs.present()) return out;
  add_lost(analysis.logs, out);
  add_nvlink(analysis.logs, out);
  add_device(analysis.logs, out);
  add_pcie(analysis.logs, out);
  return out;
}

// What a program did to its own GPU: it dies of that, and the others wait for it.
std::vector<Explanation> find_log_device_misuse(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  EventRefs misuse;
  for (const LogEvent* xid : logs.of(LogEventKind::kXid)) {
    if (class_of(xid_of(*xid)) == XidClass::kApplication) misuse.push_back(xid);
  }
  for (const LogEvent* event : logs.of(LogEventKind::kCudaError)) {
    // 700 illegal address, 715 illegal instruction, 716 misaligned, 719 launch failure, 710 assert
    if (event->code == 700 || event->code == 715 || event->code == 716 || event->code == 719 ||
        event->code == 710 || event->code == 718 || event->code == 717)
      misuse.push_back(event);
  }
  if (misuse.empty()) return out;
  const LogEvent& first = *misuse.front();
  const bool xid = first.kind == LogEventKind::kXid;
  Explanation found = log_finding(
      logs, Category::kProcessOrDeviceUnavailable, xid ? "gpu_xid" : "process_exited", Confidence::kLow,
      (xid ? "a program broke on " + gpu_text(logs, first) + ": Xid " + std::to_string(xid_of(first)) + ", " +
                 xid_words(xid_of(first))
           : "a kernel failed on the GPU" +
                 (writer_text(logs, first.origin).empty() ? "" : " of " + writer_text(logs, first.origin)) +
                 ": " + first.detail) +
          "; the other ranks wait for that process",
      misuse);
  found.root = "application_error";
  std::set<std::int32_t> ranks;
  for (const LogEvent* event : misuse) {
    if (logs.origin(event->origin).global_rank >= 0) ranks.insert(logs.origin(event->origin).global_rank);
  }
  for (const std::int32_t rank : ranks) found.other_suspects.push_back(rank_subject(rank));
  if (xid) name_gpus(logs, misuse, true, found);
  out.push_back(std::move(found));
  return out;
}

}  // namespace unhang::detect
