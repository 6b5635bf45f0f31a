// SPDX-License-Identifier: Apache-2.0
#include "simulate/call_site.h"

#include <array>
#include <string>
#include <string_view>

namespace unhang::simulate {
namespace {

constexpr std::string_view kTorch = "/usr/lib/python3/dist-packages/torch/distributed/";

struct Place {
  std::string_view torch_function;
  std::int64_t torch_line;
  std::string_view function;
  std::string_view file;
  std::int64_t line;
  std::int64_t step_line;  // in train_step, which calls it
};

// In the order of Site.
constexpr std::array<Place, kSiteCount> kPlaces = {{
    {"barrier", 5208, "set_up_groups", "trainer/groups.py", 88, 31},
    {"broadcast", 2917, "load_parameters", "trainer/checkpoint.py", 154, 36},
    {"all_gather_into_tensor", 4071, "gather_sequence", "trainer/tensor_parallel.py", 61, 118},
    {"reduce_scatter_tensor", 4512, "scatter_sequence", "trainer/tensor_parallel.py", 83, 118},
    {"all_reduce", 3906, "vocabulary_loss", "trainer/loss.py", 40, 121},
    {"all_gather_into_tensor", 4071, "gather_gradient", "trainer/tensor_parallel.py", 104, 127},
    {"reduce_scatter_tensor", 4512, "scatter_gradient", "trainer/tensor_parallel.py", 122, 127},
    {"recv", 2688, "recv_forward", "trainer/pipeline.py", 47, 115},
    {"send", 2643, "send_forward", "trainer/pipeline.py", 58, 123},
    {"recv", 2688, "recv_backward", "trainer/pipeline.py", 69, 125},
    {"send", 2643, "send_backward", "trainer/pipeline.py", 80, 130},
    {"batch_isend_irecv", 2811, "send_forward_recv_backward", "trainer/pipeline.py", 97, 124},
    {"batch_isend_irecv", 2811, "send_backward_recv_forward", "trainer/pipeline.py", 113, 131},
    {"all_reduce", 3906, "reduce_norm_gradients", "trainer/tensor_parallel.py", 171, 136},
    {"all_reduce", 3906, "reduce_router_bias", "trainer/experts.py", 203, 137},
    {"all_to_all_single", 4790, "dispatch_tokens", "trainer/experts.py", 95, 139},
    {"reduce_scatter_tensor", 4512, "reduce_bucket", "trainer/optimizer.py", 76, 142},
    {"all_reduce", 3906, "gradient_norm", "trainer/optimizer.py", 131, 145},
    {"all_reduce", 3906, "report_loss", "trainer/metrics.py", 29, 147},
    {"broadcast", 2917, "share_learning_rate", "trainer/schedule.py", 52, 148},
    {"all_reduce", 3906, "count_tokens", "trainer/metrics.py", 44, 149},
    {"all_gather_into_tensor", 4071, "gather_parameters", "trainer/optimizer.py", 188, 152},
    {"all_gather_into_tensor", 4071, "gather_embedding", "trainer/optimizer.py", 201, 153},
    {"barrier", 5208, "end_step", "trainer/loop.py", 64, 156},
    {"all_reduce", 3906, "log_on_this_rank", "trainer/debug.py", 17, 144},
}};

std::string source_file(std::string_view name) {
  return "/workspace/" + std::string(name);
}

}  // namespace

std::vector<RecordedFrame> stack_of(Site site, std::int32_t depth) {
  const Place& place = kPlaces[static_cast<std::size_t>(site)];
  std::vector<RecordedFrame> stack;
  stack.push_back(
      {std::string(place.torch_function), std::string(kTorch) + "distributed_c10d.py", place.torch_line});
  stack.push_back({"wrapper", std::string(kTorch) + "c10d_logger.py", 83});
  stack.push_back({std::string(place.function), source_file(place.file), place.line});
  stack.push_back({"train_step", source_file("trainer/loop.py"), place.step_line});
  stack.push_back({"train", source_file("trainer/loop.py"), 72});
  stack.push_back({"main", source_file("train.py"), 41});
  stack.push_back({"<module>", source_file("train.py"), 58});
  // Deeper than that: a launcher of as many layers.
  for (std::int64_t layer = 0; stack.size() < static_cast<std::size_t>(depth); ++layer) {
    stack.push_back({"launch_" + std::to_string(layer), source_file("launcher/layers.py"), 10 + 7 * layer});
  }
  stack.resize(static_cast<std::size_t>(depth));
  return stack;
}

}  // namespace unhang::simulate
