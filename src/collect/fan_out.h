// SPDX-License-Identifier: Apache-2.0
//
// The capture of a whole job: the same capture on each of its machines or pods, side by side and within one
// budget, and what they send merged into one bundle (members/NAME/…). Who does not answer is in the ledger
// like any other source.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/capture.h"
#include "collect/fan_out_members.h"
#include "collect/fan_out_transport.h"

namespace unhang::collect {

struct FanOutRequest {
  std::string folder;  // new or empty
  MemberSelection members;
  std::chrono::nanoseconds budget = std::chrono::seconds(25);
  std::vector<std::string> flags;  // of `unhang capture` on each member, without budget and place
  std::string instance, deployment;
  std::vector<std::pair<std::string, std::string>> labels;
  OwnProgram program;       // that is copied where there is none
  HelperPrograms programs;  // where kubectl, ssh and the like are looked for, and what ends them early
  std::shared_ptr<CaptureStop> stop = std::make_shared<CaptureStop>();
};

// The sources of the bundle are the members. `anything` is whether one of them captured something of the job.
// Fails as find_members() and capture() do.
base::Result<CaptureResult> fan_out(const FanOutRequest& request);

}  // namespace unhang::collect
