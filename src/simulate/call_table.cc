// SPDX-License-Identifier: Apache-2.0
#include "simulate/call_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace unhang::simulate {
namespace {

using model::OpKind;

std::string name_of(const CallSpec& call, Backend backend) {
  const bool nccl = backend == Backend::kNccl;
  switch (call.kind) {
    case OpKind::kAllReduce:
      return "all_reduce";
    case OpKind::kAllGather:
      return nccl ? "_all_gather_base" : "all_gather";
    case OpKind::kReduceScatter:
      return nccl ? "_reduce_scatter_base" : "all_reduce";
    case OpKind::kBroadcast:
      return "broadcast";
    case OpKind::kAllToAll:
      return "all_to_all";
    case OpKind::kBarrier:
      return nccl ? "all_reduce_barrier" : "barrier";
    case OpKind::kSend:
      return fmt::format("send {}->{}", call.self, call.peer);
    case OpKind::kRecv:
      return fmt::format("recv {}<-{}", call.self, call.peer);
    case OpKind::kCoalesced:
      return call.closes.empty() ? "coalesced" : call.closes + "_coalesced";
    default:
      break;
  }
  CHECK(false && "a kind that the simulation does not call");
  return {};
}

std::vector<std::int64_t> scaled(std::vector<std::int64_t> shape, std::int64_t factor) {
  shape.front() *= factor;
  return shape;
}

void set_sizes(RecordedCall& out, std::vector<std::int64_t> input, std::vector<std::int64_t> output,
               const std::string& dtype) {
  out.input_sizes = {std::move(input)};
  out.output_sizes = {std::move(output)};
  out.input_dtypes = out.output_dtypes = {dtype};
}

}  // namespace

CallId CallTable::add(const CallSpec& spec) {
  const auto known = std::find(x_specs.begin(), x_specs.end(), spec);
  if (known == x_specs.end()) {
    CHECK(x_specs.size() < std::numeric_limits<CallId>::max());
    x_specs.push_back(spec);
    return static_cast<CallId>(x_specs.size() - 1);
  }
  return static_cast<CallId>(known - x_specs.begin());
}

RecordedCall CallTable::recorded(CallId id, std::int64_t rows_in, std::int64_t rows_out) const {
  const CallSpec& call = x_specs.at(id);
  const bool nccl = x_backend == Backend::kNccl;
  RecordedCall out;
  out.profiling_name = (nccl ? "nccl:" : "gloo:") + name_of(call, x_backend);
  out.is_p2p = call.kind == OpKind::kSend || call.kind == OpKind::kRecv ||
               (call.kind == OpKind::kCoalesced && call.closes.empty());
  switch (call.kind) {
    case OpKind::kCoalesced:
      break;  // the closing entry carries no tensors
    case OpKind::kBarrier:
      if (nccl) set_sizes(out, {1}, {1}, call.dtype);
      break;
    case OpKind::kAllGather: {
      std::vector<std::int64_t> gathered = scaled(call.shape, call.members);
      if (!nccl) {  // a list of tensors, shown as one with a leading extent
        gathered = call.shape;
        gathered.insert(gathered.begin(), call.members);
      }
      set_sizes(out, call.shape, gathered, call.dtype);
      break;
    }
    case OpKind::kReduceScatter: {
      const std::vector<std::int64_t> whole = scaled(call.shape, call.members);
      set_sizes(out, whole, nccl ? call.shape : whole, call.dtype);
      break;
    }
    default:
      if (call.uneven) {
        std::vector<std::int64_t> input = call.shape;
        std::vector<std::int64_t> output = call.shape;
        input.front() = rows_in - call.shortfall;
        output.front() = rows_out;
        set_sizes(out, input, output, call.dtype);
      } else {
        set_sizes(out, call.shape, call.shape, call.dtype);
      }
  }
  return out;
}

}  // namespace unhang::simulate
