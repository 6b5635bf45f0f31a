// SPDX-License-Identifier: Apache-2.0
//
// The files that NCCL writes its log to (NCCL_DEBUG_FILE of each worker) as a source of a capture. A file is
// a worker's own: it is read in the worker's file system, must belong to the worker's user, and links and
// special files are passed over. Of a large file the beginning and the end are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "os/process_table.h"

namespace unhang::collect {

struct NcclLogSearch {
  std::vector<os::Process> workers;  // with NCCL_DEBUG_FILE in their environment
  std::string own_namespace;         // the caller's mount namespace
  std::uint64_t first_bytes = std::uint64_t{4} << 20, last_bytes = std::uint64_t{12} << 20;
};

CaptureSource nccl_logs_source(std::string id, NcclLogSearch search, std::shared_ptr<CaptureNames> names);

// The file's name as NCCL makes it of "…/nccl.%h.%p.log": %p is `pid`, %% a percent sign, every other
// character stands for itself. The host is not known from outside its container: '%h' is left as "%h".
std::string nccl_log_name(std::string_view pattern, std::int64_t pid);
// Whether `name` is `pattern` (of nccl_log_name) with any host in the place of "%h".
bool is_nccl_log(std::string_view name, std::string_view pattern);

}  // namespace unhang::collect
