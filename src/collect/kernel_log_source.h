// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log as a source of a capture: its last records, in the form of journald with UTC times, so
// that they compare with other logs. From /dev/kmsg; where that may not be read, from dmesg or journalctl.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/helper_programs.h"
#include "os/kernel_log.h"

namespace unhang::collect {

struct KernelLogPlace {
  std::string device = "/dev/kmsg";
  std::string host;  // whose it is
  HelperPrograms programs;
  std::size_t max_records = 5000;
  std::optional<std::int64_t> job_began_ns = {};  // the start of the first worker, where it is known
};

CaptureSource kernel_log_source(std::string id, KernelLogPlace place, std::shared_ptr<CaptureNames> names);

// "2026-02-18T08:50:00.123456+00:00 gpu-b07 kernel: text", a line a record, without secrets.
std::string kernel_log_text(const os::KernelLog& log, const std::string& host, std::int64_t clock_start_ns);

}  // namespace unhang::collect
