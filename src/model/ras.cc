// SPDX-License-Identifier: Apache-2.0
#include "model/ras.h"

#include <fmt/core.h>

namespace unhang::model {

std::string_view name_of(RasCollective value) {
  switch (value) {
    case RasCollective::kBroadcast:
      return "Broadcast";
    case RasCollective::kReduce:
      return "Reduce";
    case RasCollective::kAllGather:
      return "AllGather";
    case RasCollective::kReduceScatter:
      return "ReduceScatter";
    case RasCollective::kAllReduce:
      return "AllReduce";
    case RasCollective::kAny:
      return "collective";
  }
  return "collective";
}

std::string_view name_of(RasStatus value) {
  switch (value) {
    case RasStatus::kUnknown:
      return "unknown";
    case RasStatus::kInit:
      return "INIT";
    case RasStatus::kRunning:
      return "RUNNING";
    case RasStatus::kFinalize:
      return "FINALIZE";
    case RasStatus::kAbort:
      return "ABORT";
    case RasStatus::kNoCommunicator:
      return "NOCOMM";
  }
  return "unknown";
}

std::string_view text_of(NcclResult value) {
  switch (value) {
    case NcclResult::kSuccess:
      return "success";
    case NcclResult::kUnhandledCuda:
      return "unhandled CUDA error";
    case NcclResult::kSystem:
      return "system error";
    case NcclResult::kInternal:
      return "internal error";
    case NcclResult::kInvalidArgument:
      return "invalid argument";
    case NcclResult::kInvalidUsage:
      return "invalid usage";
    case NcclResult::kRemote:
      return "remote process error";
    case NcclResult::kInProgress:
      return "operation in progress";
    case NcclResult::kTimeout:
      return "time-out";
    case NcclResult::kOther:
      return "unknown error";
  }
  return "unknown error";
}

bool is_nccl_error(const std::optional<NcclResult>& result) {
  return result && *result != NcclResult::kSuccess && *result != NcclResult::kInProgress;
}

bool is_own_nccl_error(const std::optional<NcclResult>& result) {
  return is_nccl_error(result) && *result != NcclResult::kRemote && *result != NcclResult::kTimeout;
}

std::string hash_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

}  // namespace unhang::model
