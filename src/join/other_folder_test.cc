// SPDX-License-Identifier: Apache-2.0
#include "join/other_folder.h"

#include <gtest/gtest.h>

namespace unhang::join {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class Folders {
 public:
  // A dump of `rank` whose calls 5, 6 and 7 were at `at_ns` and the two seconds after it.
  Folders& dump(const char* folder, std::int32_t rank, std::int64_t at_ns) {
    x_case.inputs.push_back({std::string(folder) + "/trace_rank_" + std::to_string(rank), "dump", {}});
    JoinedDump& dump = x_dumps.emplace_back();
    dump.input = static_cast<model::InputIndex>(x_case.inputs.size() - 1);
    dump.rank = rank;
    for (std::int64_t i = 0; i < 3; ++i) {
      model::Operation op;
      op.record_id = 5 + i;
      op.created_ns = at_ns + i * kSecond;
      dump.dump.operations.push_back(op);
    }
    return *this;
  }
  std::vector<std::string> kept() {
    set_aside_other_folders(x_dumps, x_case);
    std::vector<std::string> out;
    for (const JoinedDump& dump : x_dumps) {
      if (dump.kept()) out.push_back(x_case.inputs[dump.input].path);
    }
    return out;
  }

 private:
  model::Case x_case;
  std::vector<JoinedDump> x_dumps;
};

constexpr std::int64_t kThen = 1'700'000'000 * kSecond;

TEST(OtherFolder, OfTwoJobsAtOneTimeTheLargerIsLookedAt) {
  Folders two;
  two.dump("a", 0, kThen).dump("a", 1, kThen).dump("a", 2, kThen);
  two.dump("b", 0, kThen + kSecond).dump("b", 1, kThen + kSecond);
  EXPECT_EQ(two.kept(), (std::vector<std::string>{"a/trace_rank_0", "a/trace_rank_1", "a/trace_rank_2"}));
}

TEST(OtherFolder, TheNewerRunIsLookedAt) {
  Folders two;
  two.dump("first", 0, kThen).dump("first", 1, kThen).dump("first", 2, kThen);
  two.dump("second", 0, kThen + 900 * kSecond).dump("second", 1, kThen + 900 * kSecond);
  EXPECT_EQ(two.kept(), (std::vector<std::string>{"second/trace_rank_0", "second/trace_rank_1"}));
}

TEST(OtherFolder, CopiesAndAFolderForEachHostStay) {
  Folders copies;
  copies.dump("a", 0, kThen).dump("a", 1, kThen).dump("b", 0, kThen).dump("b", 1, kThen);
  EXPECT_EQ(copies.kept().size(), 4U);
  Folders hosts;
  hosts.dump("node1", 0, kThen).dump("node1", 1, kThen).dump("node2", 2, kThen).dump("node2", 3, kThen);
  EXPECT_EQ(hosts.kept().size(), 4U);
}

}  // namespace
}  // namespace unhang::join
