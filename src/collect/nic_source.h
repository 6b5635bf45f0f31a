// SPDX-License-Identifier: Apache-2.0
//
// Counters of RDMA ports and network interfaces as a source of a capture, twice, so that what moves can be
// told from what stands still: documents of the schema unhang.nic_counters/1
// (docs/formats/capture_documents.md).
#pragma once

#include <memory>
#include <string>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"

namespace unhang::collect {

struct NicPlace {
  std::string sys = "/sys";
  std::string host;
};

CaptureSource nic_source(std::string id, NicPlace place, CaptureSampling sampling,
                         std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
