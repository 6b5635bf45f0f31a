// SPDX-License-Identifier: Apache-2.0
//
// One member of a capture of a whole job as a source: its capture is started over there, and its bundle is
// kept as it arrives.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/fan_out_members.h"
#include "collect/fan_out_transport.h"

namespace unhang::collect {

// How many members are asked at once.
inline constexpr std::size_t kMembersAtOnce = 64;

// So many at once; the others wait for their turn.
class MemberTurns {
 public:
  explicit MemberTurns(std::size_t at_once) : x_free(at_once) {}
  // False: the turn did not come until then, or the capture is to stop.
  bool take(const CaptureContext& context, std::chrono::steady_clock::time_point until);
  void give_back();

 private:
  std::mutex x_mutex;
  std::condition_variable x_changed;
  std::size_t x_free;
};

// What all members have in common.
struct FanOutPlan {
  OwnProgram program;
  HelperPrograms programs;
  std::vector<std::string> flags;
  MemberTurns turns{kMembersAtOnce};
};

// `folder` is where its bundle goes: "members/gpu-b07".
CaptureSource member_source(Member member, std::string folder, std::shared_ptr<FanOutPlan> plan);

// "host gpu-b07", "pod prod/serve-0, container vllm", "node gpu-b07 of job 42".
std::string text_of(const Member& member);

}  // namespace unhang::collect
