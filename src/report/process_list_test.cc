// SPDX-License-Identifier: Apache-2.0
#include "report/process_list.h"

#include <string>

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

model::ProcessReading process(std::int64_t pid, std::int64_t parent, std::int32_t rank, char state,
                              const std::string& function) {
  model::ProcessReading reading;
  reading.sample.host = "node3";
  reading.sample.pid = pid;
  reading.sample.parent = parent;
  reading.sample.rank = rank;
  reading.sample.state = state;
  reading.sample.program = "python3";
  model::ThreadSample thread;
  thread.thread = pid;
  thread.is_main = true;
  thread.state = state;
  if (!function.empty()) {
    thread.source = model::StackSource::kPySpy;
    thread.frames.push_back(
        {.function = function, .file = "torch/utils/data/dataloader.py", .line = 1, .python = true});
  }
  reading.sample.threads.push_back(thread);
  return reading;
}

TEST(ProcessList, AsATreeWithRanksAndWhatTheyDo) {
  model::Case joined;
  joined.processes = {process(10, 1, -1, 'S', ""), process(12, 10, 1, 'D', ""),
                      process(11, 10, 0, 'S', "_try_get_data")};
  const std::string text = render_processes(joined, {.width = 80});
  const std::size_t parent = text.find("10"), first = text.find("11"), second = text.find("12");
  EXPECT_LT(parent, first);
  EXPECT_LT(first, second) << text;
  EXPECT_NE(text.find("stuck (D)"), std::string::npos) << text;
  EXPECT_NE(text.find("    python3"), std::string::npos) << text;  // below its parent
  EXPECT_NE(text.find("data"), std::string::npos) << text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 84u);
    at = end + 1;
  }
}

TEST(ProcessList, ACircleOfParentsEnds) {
  model::Case joined;
  joined.processes = {process(10, 11, -1, 'S', ""), process(11, 10, -1, 'S', ""),
                      process(12, 12, -1, 'S', "")};
  EXPECT_NE(render_processes(joined, {}).find("12"), std::string::npos);
}

TEST(ProcessList, NothingWithoutProcesses) {
  EXPECT_EQ(render_processes({}, {}), "");
}

}  // namespace
}  // namespace unhang::report
