// SPDX-License-Identifier: Apache-2.0
//
// Where the Flight Recorder of a process writes its dumps: <prefix><global rank>, with the prefix from the
// process's own environment, or a default that has changed over the releases. The prefix is a path of the
// file system as that process sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/process_table.h"

namespace unhang::collect {

struct DumpPlace {
  std::string root = {};  // through which its path is resolved ("/proc/412/root"); empty: our own file system
  std::string prefix = {};                // "/tmp/nccl_trace_rank_"
  bool is_path = false;                   // given by a person: a file or a folder, or else a prefix
  std::vector<std::size_t> workers = {};  // indices of those that would write there
};

// The variables that decide; they must be among those that the process table was asked for.
const std::vector<std::string>& dump_variables();

// What a process loads that has a Flight Recorder (beginnings of file names).
const std::vector<std::string>& worker_libraries();

// The prefixes of an environment, the one in use first, each once. `home` and `cache` are HOME and
// XDG_CACHE_HOME; empty where not known.
std::vector<std::string> dump_prefixes(const std::string* explicit_new, const std::string* explicit_old,
                                       const std::string& home, const std::string& cache);

// Each place once: workers that see the same file system and have the same prefix share it. `own_namespace`
// is the caller's mount namespace.
std::vector<DumpPlace> dump_places(const std::vector<os::Process>& workers, const std::string& own_namespace);

// The rank in a file's name when it is `prefix` followed by digits ("…_rank_12", also "…_rank_12.old"); the
// prefix is given without its folder.
std::optional<std::int64_t> rank_of_name(std::string_view name, std::string_view prefix);

// "/tmp/" and "nccl_trace_rank_" of "/tmp/nccl_trace_rank_".
std::string_view folder_of(std::string_view prefix);
std::string_view name_of_path(std::string_view prefix);

}  // namespace unhang::collect
