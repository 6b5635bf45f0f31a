// SPDX-License-Identifier: Apache-2.0
//
// What a bundle says about itself (its manifest.json): where and when it was captured, what was asked, what
// answered, and which of its files came from where. What did not answer is as much evidence as what did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unhang::model {

enum class SourceStatus : std::uint8_t {
  kAnswered,  // all that was asked
  kPartial,   // some of it, or it broke off
  kSilent,    // asked, and no answer came in time
  kRefused,   // asked, and it said no: connection refused, permission denied
  kMissing,   // there was nothing to ask or to find
  kFailed,    // it could not be asked, or its answer could not be kept
};
std::string_view name_of(SourceStatus value);  // "answered"
std::optional<SourceStatus> parse_source_status(std::string_view name);

struct BundleFile {
  std::string path = {};         // inside the bundle, with '/': "flight_recorder/gpu-b07-412/…"
  std::int64_t captured_ns = 0;  // when the capture had it, since 1970
  std::uint64_t bytes = 0;
  std::string sha256 = {};                       // 64 hexadecimal digits
  std::string original_path = {};                // where it lay; empty: it was no file
  std::optional<std::int64_t> modified_ns = {};  // of the original
  std::int64_t pid = -1;                         // the process that it tells of; -1: not known
  std::string note = {};  // "health", "metrics": which of several things a source gives
  bool stale = false;     // older than the process that is said to have written it
  bool growing = false;   // it was still being written when it was copied last
  bool cut = false;       // only its beginning was kept
  bool operator==(const BundleFile&) const = default;
};

// One thing that was asked: a RAS address, an engine, the dumps of a machine.
struct BundleSource {
  std::string id = {};          // "ras-1": unique in its bundle
  std::string kind = {};        // "ras", "engine", "flight_recorder", "processes"
  std::string asked_kind = {};  // "address", "url", "path", "search"
  std::string asked = {};       // without user names, passwords and tokens
  SourceStatus status = SourceStatus::kMissing;
  std::string reason = {};  // why it is not kAnswered, for people
  std::int64_t started_ns = 0;
  std::int64_t elapsed_ms = 0;
  std::string nccl_version = {};  // of the processes behind it; empty: not known
  std::vector<BundleFile> files = {};
  bool operator==(const BundleSource&) const = default;
};

// A process that was looked at, and the few variables that say which rank it is.
struct BundleProcess {
  std::int64_t pid = -1;
  std::vector<std::int64_t> namespace_pids = {};  // from the machine's own number inward: {88121, 412}
  std::string name = {};
  std::optional<std::int64_t> started_ns = {};
  std::string nccl_version = {};                                      // of the library it has loaded
  std::vector<std::pair<std::string, std::string>> environment = {};  // ascending
  bool operator==(const BundleProcess&) const = default;
};

// The command that was run for somebody (`unhang run`, `unhang probe`) and that the capture is about.
struct BundleCommand {
  std::int64_t pid = -1;
  std::int64_t ran_ms = 0;
  bool ended = false;  // false: it still ran when it was looked at
  int status = -1;     // it left with; -1: a signal ended it, or it still ran
  int signal = 0;      // that ended it; 0: none did
  bool core_dumped = false;
  // Processes of its control group that the kernel killed for lack of memory while it ran; nullopt: not
  // known.
  std::optional<std::int64_t> oom_kills = {};

  bool operator==(const BundleCommand&) const = default;
};

struct BundleManifest {
  std::string tool_version = {};
  std::int64_t started_ns = 0;
  std::optional<std::int64_t> ended_ns =
      {};                    // nullopt: it was cut short; what it lists is there all the same
  bool interrupted = false;  // by a signal
  std::string host = {};
  std::string instance = {}, deployment = {};                    // of the model instance; empty: not given
  std::vector<std::pair<std::string, std::string>> labels = {};  // ascending
  std::int64_t budget_ms = 0;
  std::vector<BundleSource> sources = {};     // in the order in which they were planned
  std::vector<BundleProcess> processes = {};  // ascending pid
  std::optional<BundleCommand> command = {};
  bool operator==(const BundleManifest&) const = default;
};

// It did not give all that was asked of it.
bool lacks_something(const BundleSource& source);

}  // namespace unhang::model
