// SPDX-License-Identifier: Apache-2.0
//
// Faults of the environment that NCCL or the driver says in plain words while a communicator is made: each
// line alone is the cause.
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

struct PlainFault {
  LogEventKind kind;
  std::string_view cause;
  Confidence strength;
  const char* says;
};

// In order of sufficiency: a driver that does not fit explains everything below it.
constexpr PlainFault kFaults[] = {
    {LogEventKind::kDriverMismatch, "driver_library_mismatch", Confidence::kMedium,
     "the NVIDIA driver in the kernel and the libraries of the program do not fit together"},
    {LogEventKind::kDuplicateGpu, "duplicate_gpu", Confidence::kMedium, "two ranks were given the same GPU"},
    {LogEventKind::kNcclVersionMismatch, "version_mismatch", Confidence::kMedium,
     "the ranks run different versions of NCCL"},
    {LogEventKind::kSharedMemoryFailed, "shm_exhausted", Confidence::kMedium,
     "NCCL cannot get shared memory: /dev/shm is too small or not usable"},
    {LogEventKind::kInterfaceMissing, "interface_mismatch", Confidence::kMedium,
     "NCCL finds no network interface: NCCL_SOCKET_IFNAME does not name one of that host"},
    {LogEventKind::kMemoryLock, "device_not_accessible", Confidence::kLow,
     "memory cannot be registered with the network adapter: its locked-memory limit or its resources are "
     "exhausted"},
    {LogEventKind::kDeviceNotAccessible, "device_not_accessible", Confidence::kLow,
     "a device cannot be opened by the process"},
    {LogEventKind::kBootstrapTruncated, "version_mismatch", Confidence::kLow,
     "ranks send each other different amounts while they meet: their NCCL versions differ, or they are of "
     "different jobs"},
    {LogEventKind::kDuplicateRank, "group_mismatch", Confidence::kMedium,
     "a rank checked in twice: two jobs, or two processes with the same rank, use one rendezvous"},
    {LogEventKind::kRankCountMismatch, "group_mismatch", Confidence::kMedium,
     "the ranks do not agree on how many they are"},
    {LogEventKind::kNetDeviceMismatch, "plugin_mismatch", Confidence::kLow,
     "the ranks see different numbers of network devices"},
    {LogEventKind::kAddressInUse, "store_unreachable", Confidence::kMedium,
     "the rendezvous port is taken: an earlier job still holds it, or two jobs use the same"},
    {LogEventKind::kDeviceUnavailable, "device_not_accessible", Confidence::kLow,
     "a process has no usable GPU"},
    {LogEventKind::kRacingThreads, "group_mismatch", Confidence::kLow,
     "several threads of the program launch NCCL work on one device at once"},
};

std::string with_subject(const LogEvent& event, std::string text) {
  switch (event.kind) {
    case LogEventKind::kDuplicateGpu:
      if (event.rank >= 0)
        text = "ranks " + std::to_string(event.rank) + " and " + std::to_string(event.code) +
               " were given the same GPU" + (event.subject.empty() ? "" : " (bus id " + event.subject + ")");
      break;
    case LogEventKind::kInterfaceMissing:
      if (!event.subject.empty()) text += " (" + event.subject + ")";
      break;
    case LogEventKind::kDeviceNotAccessible:
      if (!event.subject.empty()) text += ": " + event.subject;
      break;
    case LogEventKind::kRankCountMismatch:
    case LogEventKind::kNcclVersionMismatch:
    case LogEventKind::kSharedMemoryFailed:
      if (!event.detail.empty()) text += " (" + event.detail + ")";
      break;
    default:
      break;
  }
  return text;
}

}  // namespace

std::vector<Explanation> find_log_init_fault(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  for (const PlainFault& fault : kFaults) {
    const EventRefs& events = logs.of(fault.kind);
    if (events.empty()) continue;
    const std::vector<std::string> hosts = hosts_of(logs, events);
    std::string headline = with_subject(*events.front(), fault.says);
    if (!hosts.empty()) headline += " (on " + listed(hosts) + ")";
    // After a whole communicator has worked, the same words are about another, smaller matter.
    const bool late =
        logs.past_init && !logs.timeouts.empty() &&
        (fault.kind == LogEventKind::kDeviceUnavailable || fault.kind == LogEventKind::kAddressInUse);
    if (late) continue;
    Explanation found =
        log_finding(logs, Category::kInitializationHang, fault.cause, fault.strength, headline, events);
    found.state = model::State::kDead;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
