// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_sources.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

TEST(WatchSources, WithoutNamesAllBelongToOneInstance) {
  const auto sources = watch_sources({"a:1,b:2", "a:1"}, {"http://a:8000", "http://b:8000/metrics"}, "");
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->instances.size(), 1u);
  EXPECT_EQ(sources->instances[0].name, "a:8000");
  EXPECT_EQ(sources->instances[0].engines, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(sources->instances[0].ras.size(), 2u);
  EXPECT_EQ(sources->ras.size(), 2u);
  EXPECT_EQ(watch_sources({"a:1"}, {}, "")->instances[0].name, "a:1");
  EXPECT_EQ(watch_sources({"a:1"}, {}, "chat")->instances[0].name, "chat");
}

TEST(WatchSources, NamesMakeInstances) {
  const auto sources = watch_sources({"one=a:1", "two=a:1"},
                                     {"two=http://b:8000", "one=c:8000", "http://d:8000/x?y=z"}, "rest");
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->instances.size(), 3u);
  EXPECT_EQ(sources->instances[0].name, "two");
  EXPECT_EQ(sources->instances[1].name, "one");
  EXPECT_EQ(sources->instances[2].name, "rest");
  EXPECT_EQ(sources->instances[1].engines, std::vector<std::size_t>{1});
  EXPECT_EQ(sources->instances[0].ras.size(), 1u);
  EXPECT_EQ(sources->ras.size(), 1u) << "each address is asked once";
}

TEST(WatchSources, RefusesWhatIsNone) {
  EXPECT_FALSE(watch_sources({}, {}, "x"));
  EXPECT_FALSE(watch_sources({"a:x"}, {}, ""));
  EXPECT_FALSE(watch_sources({}, {"ftp://a"}, ""));
}

}  // namespace
}  // namespace unhang::cli
