// SPDX-License-Identifier: Apache-2.0
#include "model/engine_sample.h"

namespace unhang::model {

std::string_view name_of(EngineKind value) {
  switch (value) {
    case EngineKind::kUnknown:
      return "unknown";
    case EngineKind::kVllm:
      return "vllm";
    case EngineKind::kSglang:
      return "sglang";
    case EngineKind::kTensorRtLlm:
      return "tensorrt-llm";
    case EngineKind::kDynamo:
      return "dynamo";
    case EngineKind::kTriton:
      return "triton";
  }
  return "unknown";
}

}  // namespace unhang::model
