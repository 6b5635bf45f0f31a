// SPDX-License-Identifier: Apache-2.0
//
// Finds the dumps of the Flight Recorder on this machine and copies them into a bundle as they are. A worker
// writes them in its own file system (a container has another one than we), under its own prefix; all of it
// is read through os/child_reader.h, since a network file system may be gone.
//
// What a stranger's process names is not trusted: its file system cannot lead out of itself, links and
// special files are passed over, and a file must belong to the user whose process is said to write it.
//
// The recorder overwrites a dump in place, so a copy may catch it half written: it is copied again until it
// ends as a pickle or JSON document does, or has not changed for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "os/process_table.h"

namespace unhang::collect {

struct FoundDump {
  std::string root;
  std::string path;  // as its place sees it
  bool follow_last = false;
  std::int64_t pid = -1;  // of the process that writes it, on this machine; -1: not known
  bool stale = false;     // older than every process that could have written it
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string target;  // where it goes in the bundle; unique
};

struct DumpSearch {
  std::vector<os::Process> workers;        // with dump_variables() in their environment
  std::vector<std::string> paths;          // given by a person: files, folders, prefixes
  std::vector<std::string> own_prefixes;   // of the caller's own environment; with workers or without
  std::string own_namespace;               // the caller's mount namespace
  std::string host;                        // names the folders in the bundle
  std::string folder = "flight_recorder";  // in which these lie
  std::vector<FoundDump> known;            // passed over as long as they are not written anew
  std::uint64_t max_file_bytes = std::uint64_t{1} << 30;
  std::uint64_t max_total_bytes = std::uint64_t{8} << 30;
  std::size_t max_files = 10'000;
  std::chrono::nanoseconds settle = std::chrono::seconds(1);  // between two copies of one that may still grow
  std::chrono::milliseconds still{2000};                      // how long reading may stand still
};

struct CopiedDumps {
  SourceOutcome outcome;
  std::vector<FoundDump> dumps;  // that were found
};
// Ends by the deadline of the capture.
CopiedDumps copy_dumps(const DumpSearch& search, CaptureContext& context);

// A source that does it; it ends by the deadline of its capture.
CaptureSource flight_recorder_source(std::string id, DumpSearch search);

}  // namespace unhang::collect
