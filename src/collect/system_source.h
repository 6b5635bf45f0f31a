// SPDX-License-Identifier: Apache-2.0
//
// What the machine allows the workers, as a source of a capture: kernel, clock, memory, /dev/shm, and of each
// worker its limits, cgroup and the libraries of the GPU's driver that it has loaded. One document of the
// schema unhang.system/1 (docs/formats/capture_documents.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "os/process_table.h"

namespace unhang::collect {

struct SystemPlace {
  std::string proc = "/proc", sys = "/sys";
  std::string host;
  std::vector<os::Process> workers;
};

CaptureSource system_source(std::string id, SystemPlace place, std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
