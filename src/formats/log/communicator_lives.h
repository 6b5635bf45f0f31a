// SPDX-License-Identifier: Apache-2.0
//
// Follows communicators from Init START to their end: by process (host and pid) and pointer, which a process
// may use again after Destroy. Lines that name no communicator (channels, "Connected all rings") belong to
// the one that the same thread, else the same process, is making.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/log/communicator_line.h"
#include "formats/log/facts.h"
#include "formats/log/kept_calls.h"
#include "formats/log/line.h"

namespace unhang::formats::log {

class CommunicatorLives {
 public:
  // What stands in every line that take() may know.
  static std::span<const OwnedKeyword> keywords();
  // Whether a message of NCCL's INFO is one of a communicator that it does not name, whatever follows.
  static bool begins_phase(std::string_view message);
  // Whether the line told something of a communicator.
  bool take(const Line& line, Facts& facts);
  // "NCCL version 2.x": behind a completed communicator of this process, it is a new start of the program.
  void version_printed(const Line& line, Facts& facts);
  // "Using network IB": of the process.
  void network_chosen(std::string_view name, const Line& line, Facts& facts);
  // Hands the calls that are kept to the log.
  void finish(Facts& facts);

 private:
  static constexpr std::uint32_t kNobody = ~0u;

  struct Process {
    std::string network;
    std::uint32_t latest = kNobody;  // the communicator that was made last
    std::uint32_t started_run = 0;   // in which run its lines began
    bool completed = false;          // one of its communicators was complete in this run
  };

  std::uint32_t process_of(const Line& line, Facts& facts);
  void named(const CommunicatorLine& read, const Line& line, Facts& facts);
  bool unnamed(std::string_view text, const Line& line, Facts& facts);
  bool timings(std::string_view text, const Line& line, Facts& facts);
  bool call(const CallLine& read, const Line& line, Facts& facts);
  model::LogCommunicator* current(const Line& line, Facts& facts);
  std::uint32_t make(const CommunicatorLine& read, std::uint32_t process, const Line& line, Facts& facts);
  bool is_new_run(const CommunicatorLine& read, std::uint32_t process, const Facts& facts) const;

  std::vector<std::uint32_t> x_process_by_origin;
  std::unordered_map<std::string, std::uint32_t> x_process_by_name;  // "host:pid"
  std::vector<Process> x_processes;
  std::unordered_map<std::uint64_t, std::uint32_t> x_by_pointer;  // process and pointer -> communicator
  std::unordered_map<std::uint64_t, std::uint32_t> x_by_thread;   // process and thread -> communicator
  std::unordered_map<std::string, std::uint32_t>
      x_first_of_rank;  // host, rank, ranks -> process, of this run
  KeptCalls x_calls;
};

}  // namespace unhang::formats::log
