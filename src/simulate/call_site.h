// SPDX-License-Identifier: Apache-2.0
//
// Where in the trainer's source a call comes from: the stacks that dumps carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/recorded_dump.h"

namespace unhang::simulate {

enum class Site : std::uint8_t {
  kSetupBarrier,
  kLoadParameters,
  kForwardGather,
  kForwardScatter,
  kLoss,
  kBackwardGather,
  kBackwardScatter,
  kRecvForward,
  kSendForward,
  kRecvBackward,
  kSendBackward,
  kSendForwardRecvBackward,
  kSendBackwardRecvForward,
  kNormGradients,
  kRouterBias,
  kDispatchTokens,
  kGradientBucket,
  kGradientNorm,
  kReportLoss,
  kLearningRate,
  kTokenCount,
  kGatherParameters,
  kGatherEmbedding,
  kStepBarrier,
  kInserted,  // a call that the other ranks do not make
};
constexpr std::size_t kSiteCount = static_cast<std::size_t>(Site::kInserted) + 1;

// `depth` frames, innermost first: torch's own, the trainer's, its entry point.
std::vector<RecordedFrame> stack_of(Site site, std::int32_t depth);

}  // namespace unhang::simulate
