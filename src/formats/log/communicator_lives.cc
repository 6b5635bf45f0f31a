// SPDX-License-Identifier: Apache-2.0
#include "formats/log/communicator_lives.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/scanner.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::CommunicatorPhase;
using model::LogCommunicator;

constexpr std::size_t kCommunicators = 1 << 17;
constexpr std::size_t kProcesses = 1 << 16;
constexpr std::size_t kThreads = 1 << 18;

std::uint64_t key_of(std::uint32_t process, std::uint64_t value) {
  return (static_cast<std::uint64_t>(process) << 48) ^
         (static_cast<std::uint64_t>(process) * 0x9e3779b97f4a7c15ull) ^ value;
}

void touch(LogCommunicator& communicator, const Line& line) {
  communicator.last_line = line.number;
  if (line.time.known()) communicator.last_at = line.time;
}

void advance(LogCommunicator& communicator, CommunicatorPhase phase) {
  if (communicator.phase < phase) communicator.phase = phase;
}

bool ended(const LogCommunicator& communicator) {
  return communicator.phase == CommunicatorPhase::kAborted ||
         communicator.phase == CommunicatorPhase::kDestroyed;
}

void fill(LogCommunicator& communicator, const CommunicatorLine& read) {
  if (read.rank >= 0) communicator.rank = read.rank;
  if (read.ranks >= 0) communicator.ranks = read.ranks;
  if (read.cuda_device >= 0) communicator.cuda_device = read.cuda_device;
  if (read.nvml_device >= 0) communicator.nvml_device = read.nvml_device;
  if (read.nodes >= 0) communicator.nodes = read.nodes;
  if (read.local_ranks >= 0) communicator.local_ranks = read.local_ranks;
  if (read.id) communicator.id = read.id;
  if (read.parent) communicator.parent = read.parent;
  if (!read.bus_id.empty()) communicator.bus_id = std::string(read.bus_id.substr(0, 32));
  if (!read.function.empty()) communicator.function = std::string(read.function.substr(0, 64));
}

bool begins_topology(std::string_view text) {
  return text.starts_with("Setting affinity for GPU ") || text.starts_with("Trees [") ||
         text.starts_with("NVLS multicast support") || text.starts_with("threadThresholds ") ||
         text.starts_with("P2P Chunksize set to ");
}

double seconds_behind(std::string_view text, std::string_view mark) {
  const auto rest = behind(text, mark);
  if (!rest) return -1;
  const auto value = whole_fraction(up_to(*rest, " ,)("));
  return value ? *value : -1;
}

}  // namespace

std::span<const OwnedKeyword> CommunicatorLives::keywords() {
  static constexpr std::array<OwnedKeyword, 13> kKeywords{{{"Channel ", kNcclPhase},
                                                           {"Connected all", kNcclPhase},
                                                           {"Connected NVLS tree", kNcclPhase},
                                                           {"Setting affinity for GPU ", kNcclPhase},
                                                           {"Trees [", kNcclPhase},
                                                           {"NVLS multicast support", kNcclPhase},
                                                           {"threadThresholds ", kNcclPhase},
                                                           {"P2P Chunksize set to ", kNcclPhase},
                                                           {" coll channels, ", kNcclPhase},
                                                           {"Init timings", kNcclPhase},
                                                           {"Bootstrap timings", kNcclPhase},
                                                           {"comm 0x", kNcclPointer},
                                                           {": opCount ", kNcclCall}}};
  return kKeywords;
}

bool CommunicatorLives::begins_phase(std::string_view message) {
  return message.starts_with("Channel ") || message.starts_with("Connected all") ||
         message.starts_with("Connected NVLS tree") || begins_topology(message) ||
         message.starts_with("Init timings") || message.starts_with("Bootstrap timings");
}

std::uint32_t CommunicatorLives::process_of(const Line& line, Facts& facts) {
  const auto& origins = facts.log().origins;
  if (line.origin >= x_process_by_origin.size()) x_process_by_origin.resize(line.origin + 1, kNobody);
  std::uint32_t& known = x_process_by_origin[line.origin];
  if (known != kNobody) return known;
  const model::LogOrigin& origin = origins[line.origin];
  // Fragments without host and pid: what else tells writers apart.
  std::string name = origin.host + ':' + std::to_string(origin.pid);
  if (origin.pid < 0) {
    name += ':' + std::to_string(origin.global_rank) + ':' + std::to_string(origin.local_rank) + ':' +
            std::to_string(origin.cuda_device) + ':' + origin.label;
  }
  if (const auto found = x_process_by_name.find(name); found != x_process_by_name.end())
    return known = found->second;
  if (x_processes.size() >= kProcesses) return known = 0;
  known = static_cast<std::uint32_t>(x_processes.size());
  x_processes.push_back({.network = {}, .latest = kNobody, .started_run = facts.run(), .completed = false});
  x_process_by_name.emplace(std::move(name), known);
  return known;
}

// The same place in a communicator of the same size, on the same host, by another process: the launcher
// started the program again. A pid of its own is no proof: a job has many.
bool CommunicatorLives::is_new_run(const CommunicatorLine& read, std::uint32_t process,
                                   const Facts& facts) const {
  if (x_processes[process].started_run != facts.run()) return false;
  return x_processes[process].latest == kNobody && read.step == CommunicatorStep::kInitStart;
}

std::uint32_t CommunicatorLives::make(const CommunicatorLine& read, std::uint32_t process, const Line& line,
                                      Facts& facts) {
  auto& all = facts.log().communicators;
  if (all.size() >= kCommunicators) {
    ++facts.log().forgotten;
    return kNobody;
  }
  if (read.rank >= 0 && read.ranks > 0 && is_new_run(read, process, facts)) {
    // The first communicator of a process is the world; the rank in it is the process's.
    std::string place = facts.log().origins[line.origin].host + '/' + std::to_string(read.rank) + '/' +
                        std::to_string(read.ranks);
    const auto [at, added] = x_first_of_rank.emplace(std::move(place), process);
    if (!added && at->second != process && x_first_of_rank.size() < kProcesses) {
      facts.start_run();
      const std::string again = at->first;
      x_first_of_rank.clear();
      x_first_of_rank.emplace(again, process);
    }
  }
  Process& of = x_processes[process];
  of.started_run = facts.run();
  LogCommunicator communicator;
  communicator.origin = line.origin;
  communicator.run = facts.run();
  communicator.pointer = read.pointer;
  communicator.network = of.network;
  communicator.started_line = line.number;
  communicator.started_at = line.time;
  const auto index = static_cast<std::uint32_t>(all.size());
  all.push_back(std::move(communicator));
  x_by_pointer[key_of(process, read.pointer)] = index;
  of.latest = index;
  return index;
}

void CommunicatorLives::named(const CommunicatorLine& read, const Line& line, Facts& facts) {
  const std::uint32_t process = process_of(line, facts);
  auto& all = facts.log().communicators;
  const auto found = x_by_pointer.find(key_of(process, read.pointer));
  std::uint32_t index = found == x_by_pointer.end() ? kNobody : found->second;
  if (index != kNobody && all[index].pointer != read.pointer) index = kNobody;
  const bool starts = read.step == CommunicatorStep::kInitStart;
  // The memory of one that ended, or was complete before, holds another now.
  if (index != kNobody && starts && (all[index].started || all[index].completed)) index = kNobody;
  if (index != kNobody && read.step == CommunicatorStep::kInitComplete && ended(all[index])) index = kNobody;
  if (index == kNobody) index = make(read, process, line, facts);
  if (index == kNobody) return;
  LogCommunicator& communicator = all[index];
  fill(communicator, read);
  touch(communicator, line);
  if (x_by_thread.size() >= kThreads) x_by_thread.clear();  // then the process's latest one stands for all
  if (line.thread >= 0) x_by_thread[key_of(process, static_cast<std::uint64_t>(line.thread))] = index;
  switch (read.step) {
    case CommunicatorStep::kInitStart:
      communicator.started = true;
      communicator.started_line = line.number;
      communicator.started_at = line.time;
      break;
    case CommunicatorStep::kInitComplete:
      communicator.completed = true;
      communicator.completed_line = line.number;
      communicator.completed_at = line.time;
      advance(communicator, CommunicatorPhase::kComplete);
      x_processes[process].completed = true;
      break;
    case CommunicatorStep::kDestroy:
      communicator.phase = CommunicatorPhase::kDestroyed;
      break;
    case CommunicatorStep::kAbort:
      communicator.phase = CommunicatorPhase::kAborted;
      break;
    default:
      if (read.nodes >= 0) advance(communicator, CommunicatorPhase::kTopology);
      break;
  }
}

LogCommunicator* CommunicatorLives::current(const Line& line, Facts& facts) {
  const std::uint32_t process = process_of(line, facts);
  auto& all = facts.log().communicators;
  std::uint32_t index = x_processes[process].latest;
  if (const auto found = x_by_thread.find(key_of(process, static_cast<std::uint64_t>(line.thread)));
      found != x_by_thread.end()) {
    index = found->second;
  }
  if (index == kNobody || ended(all[index])) return nullptr;
  return &all[index];
}

bool CommunicatorLives::timings(std::string_view text, const Line& line, Facts& facts) {
  const bool init = text.starts_with("Init timings");
  if (!init && !text.starts_with("Bootstrap timings")) return false;
  LogCommunicator* communicator = current(line, facts);
  if (communicator == nullptr) return true;
  touch(*communicator, line);
  if (init) {
    if (const double total = seconds_behind(text, "total "); total >= 0) communicator->total_seconds = total;
    if (const double bootstrap = seconds_behind(text, "bootstrap "); bootstrap >= 0)
      communicator->bootstrap_seconds = bootstrap;
  } else {
    advance(*communicator, CommunicatorPhase::kBootstrap);
    if (const double total = seconds_behind(text, "total "); total >= 0)
      communicator->bootstrap_seconds = total;
  }
  return true;
}

// Lines that name no communicator.
bool CommunicatorLives::unnamed(std::string_view text, const Line& line, Facts& facts) {
  CommunicatorPhase phase = CommunicatorPhase::kStarted;
  const auto transport = [&text] { return text.substr(std::min(text.rfind(" via "), text.size())); };
  bool channel = false;
  if (text.starts_with("Channel ")) {
    const bool connects =
        text.find("->") != std::string_view::npos && find_text(text, " via ") != std::string_view::npos;
    phase = connects ? CommunicatorPhase::kConnecting : CommunicatorPhase::kTopology;
    channel = connects;
  } else if (text.starts_with("Connected all") || text.starts_with("Connected NVLS tree")) {
    phase = CommunicatorPhase::kConnected;
  } else if (begins_topology(text)) {
    phase = CommunicatorPhase::kTopology;
  } else if (!text.empty() && is_digit(text.front()) && has(text, " coll channels, ")) {
    phase = CommunicatorPhase::kConnected;
  } else {
    return false;
  }
  LogCommunicator* communicator = current(line, facts);
  if (communicator == nullptr) return true;
  touch(*communicator, line);
  // Since 2.22 channels are made at the first use, behind Init COMPLETE: advance() never goes back.
  advance(*communicator, phase);
  if (!channel) return true;
  const std::string_view via = transport();
  ++communicator->channels;
  if (find_text(via, "P2P") != std::string_view::npos)
    ++communicator->p2p_channels;
  else if (find_text(via, "SHM") != std::string_view::npos ||
           find_text(via, "direct shared memory") != std::string_view::npos)
    ++communicator->shm_channels;
  else if (find_text(via, "NET/") != std::string_view::npos) {
    ++communicator->net_channels;
    if (find_text(via, "NET/Socket") != std::string_view::npos) ++communicator->socket_channels;
    if (find_text(via, "GDRDMA") != std::string_view::npos) ++communicator->gdr_channels;
  }
  return true;
}

bool CommunicatorLives::call(const CallLine& read, const Line& line, Facts& facts) {
  const std::uint32_t process = process_of(line, facts);
  auto& all = facts.log().communicators;
  const auto found = x_by_pointer.find(key_of(process, read.pointer));
  std::uint32_t index = found == x_by_pointer.end() ? kNobody : found->second;
  if (index != kNobody && (all[index].pointer != read.pointer || ended(all[index]))) index = kNobody;
  if (index == kNobody) {
    CommunicatorLine made;
    made.pointer = read.pointer;
    made.ranks = read.ranks;
    index = make(made, process, line, facts);
    if (index == kNobody) return true;
    fill(all[index], made);
    all[index].cuda_device = facts.log().origins[line.origin].cuda_device;
  }
  touch(all[index], line);
  advance(all[index], CommunicatorPhase::kInUse);
  if (read.ranks > 0 && all[index].ranks < 0) all[index].ranks = read.ranks;
  x_calls.add(index, read, line.number);
  return true;
}

bool CommunicatorLives::take(const Line& line, Facts& facts) {
  if (line.call != nullptr) return call(*line.call, line, facts);
  const std::string_view text = line.message;
  if (line.may_hold(kNcclPhase) && (unnamed(text, line, facts) || timings(text, line, facts))) return true;
  if (line.may_hold(kNcclPointer)) {
    if (const auto read = read_communicator_line(text)) {
      named(*read, line, facts);
      return true;
    }
  }
  if (!line.may_hold(kNcclCall) ||
      !text.substr(std::min(text.find(':'), text.size())).starts_with(": opCount "))
    return false;
  const auto read = read_call_line(text);
  return read && call(*read, line, facts);
}

void CommunicatorLives::version_printed(const Line& line, Facts& facts) {
  if (line.nccl == NcclLevel::kNone) return;  // a bare line names no process
  const std::uint32_t process = process_of(line, facts);
  if (!x_processes[process].completed) return;
  // The same process says its version again: its number was given to a new one.
  x_processes[process] = {
      .network = {}, .latest = kNobody, .started_run = facts.run() + 1, .completed = false};
  x_first_of_rank.clear();
  facts.start_run();
}

void CommunicatorLives::network_chosen(std::string_view name, const Line& line, Facts& facts) {
  x_processes[process_of(line, facts)].network = std::string(name.substr(0, 64));
  // Since 2.22 it is chosen after Init START.
  if (LogCommunicator* communicator = current(line, facts);
      communicator != nullptr && !communicator->completed) {
    communicator->network = std::string(name.substr(0, 64));
  }
}

void CommunicatorLives::finish(Facts& facts) {
  facts.log().calls = x_calls.take();
}

}  // namespace unhang::formats::log
