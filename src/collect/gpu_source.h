// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of this machine as a source of a capture: what the driver says of itself in /proc, what nvidia-smi
// prints (tables that the readers of logs know), and the same by NVML where there is no nvidia-smi. A driver
// that hangs costs one program, which is left behind, and what would be asked after it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/helper_programs.h"

namespace unhang::collect {

struct GpuPlace {
  std::string proc = "/proc", dev = "/dev";
  HelperPrograms programs;
  // A program that prints what NVML tells, in a process of its own since the driver may hang; empty: none.
  std::vector<std::string> nvml_words;
};

CaptureSource gpu_source(std::string id, GpuPlace place, std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
