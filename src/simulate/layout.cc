// SPDX-License-Identifier: Apache-2.0
#include "simulate/layout.h"

#include <fmt/format.h>

namespace unhang::simulate {

std::string_view description_of(Slot slot) {
  switch (slot) {
    case Slot::kWorld:
      return "default_pg";
    case Slot::kTensor:
      return "tp";
    case Slot::kPipeline:
      return "pp";
    case Slot::kData:
      return "dp";
  }
  return "";
}

base::Result<Layout> Layout::make(std::int32_t ranks, std::int32_t tensor, std::int32_t pipeline) {
  if (ranks < 2) {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("a job of {} ranks: at least 2 are needed", ranks));
  }
  if (tensor < 1 || pipeline < 1) {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("tp {} and pp {}: each must be at least 1", tensor, pipeline));
  }
  if (ranks % tensor != 0 || ranks / tensor % pipeline != 0) {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("{} ranks cannot be split into tp {} x pp {}: {} is not a multiple of {}",
                                  ranks, tensor, pipeline, ranks, std::int64_t{tensor} * pipeline));
  }
  Layout layout;
  layout.x_ranks = ranks;
  layout.x_tensor = tensor;
  layout.x_pipeline = pipeline;
  layout.x_data = ranks / tensor / pipeline;
  std::int32_t next = 0;
  for (const Slot slot : kSlots) {
    layout.x_first_group[static_cast<std::size_t>(slot)] = next;
    if (layout.has(slot)) next += ranks / layout.size(slot);
  }
  layout.x_group_count = next;
  return layout;
}

std::int32_t Layout::size(Slot slot) const {
  switch (slot) {
    case Slot::kWorld:
      return x_ranks;
    case Slot::kTensor:
      return x_tensor;
    case Slot::kPipeline:
      return x_pipeline;
    case Slot::kData:
      return x_data;
  }
  return 0;
}

std::int32_t Layout::group_of(std::int32_t rank, Slot slot) const {
  const std::int32_t first = x_first_group[static_cast<std::size_t>(slot)];
  switch (slot) {
    case Slot::kWorld:
      return first;
    case Slot::kTensor:
      return first + rank / x_tensor;
    case Slot::kPipeline:
      return first + rank % (x_tensor * x_data);
    case Slot::kData:
      return first + stage(rank) * x_tensor + rank % x_tensor;
  }
  return first;
}

std::int32_t Layout::rank_in_group(std::int32_t rank, Slot slot) const {
  switch (slot) {
    case Slot::kWorld:
      return rank;
    case Slot::kTensor:
      return rank % x_tensor;
    case Slot::kPipeline:
      return stage(rank);
    case Slot::kData:
      return rank / x_tensor % x_data;
  }
  return rank;
}

std::vector<std::int32_t> Layout::members(std::int32_t rank, Slot slot) const {
  std::int32_t stride = 1;
  if (slot == Slot::kPipeline) stride = x_tensor * x_data;
  if (slot == Slot::kData) stride = x_tensor;
  const std::int32_t first = rank - rank_in_group(rank, slot) * stride;
  std::vector<std::int32_t> out(static_cast<std::size_t>(size(slot)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = first + static_cast<std::int32_t>(i) * stride;
  return out;
}

}  // namespace unhang::simulate
