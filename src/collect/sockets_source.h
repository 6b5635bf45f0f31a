// SPDX-License-Identifier: Apache-2.0
//
// The TCP sockets of the workers as a source of a capture: who is connected with whom, and in whose queue
// bytes lie. One document of the schema unhang.sockets/1 (docs/formats/capture_documents.md). Sockets of
// other processes are left out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "os/process_table.h"

namespace unhang::collect {

struct SocketSearch {
  std::vector<os::Process> processes;  // workers and those below them
  std::string proc = "/proc";
  std::string host;
  std::size_t max_descriptors = 100'000;  // of all processes
};

CaptureSource sockets_source(std::string id, SocketSearch search, std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
