// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_client.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace unhang::collect {
namespace {

using Urls = std::pair<std::string, std::string>;

Urls urls(std::string_view text) {
  const auto endpoint = parse_engine(text);
  EXPECT_TRUE(endpoint) << text;
  return endpoint ? Urls{endpoint->metrics, endpoint->health} : Urls{};
}

TEST(ParseEngine, ABaseOrAPage) {
  const Urls expected{"http://node3:8000/metrics", "http://node3:8000/health"};
  for (const char* text : {"http://node3:8000", "http://node3:8000/", "node3:8000",
                           "http://node3:8000/metrics", "http://node3:8000/metrics/"}) {
    EXPECT_EQ(urls(text), expected) << text;
  }
  EXPECT_EQ(urls("http://node3:8000/prometheus/metrics"),
            (Urls{"http://node3:8000/prometheus/metrics", "http://node3:8000/health"}));
  EXPECT_EQ(urls("https://lb/a/metrics?token=x"),
            (Urls{"https://lb/a/metrics?token=x", "https://lb/a/health?token=x"}));
  EXPECT_FALSE(parse_engine("http://node3:8000")->settled) << "another path may be tried";
  EXPECT_TRUE(parse_engine("http://node3:8000/metrics")->settled);
}

TEST(ParseEngine, SecretsAreNotShown) {
  const auto endpoint = parse_engine("http://user:secret@node3:8000/metrics?token=abc");
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->shown.find("secret"), std::string::npos);
  EXPECT_EQ(endpoint->shown.find("abc"), std::string::npos);
}

TEST(ParseEngine, Files) {
  for (const char* text : {"file:///tmp/page", "/tmp/page"}) EXPECT_EQ(parse_engine(text)->file, "/tmp/page");
  EXPECT_EQ(parse_engine("./page")->file, "./page");
}

TEST(ParseEngine, RefusesOthers) {
  for (const char* text : {"ftp://a/", "http://", "http://:80", "http://a:99999", "file://", "http://a b/"}) {
    EXPECT_FALSE(parse_engine(text)) << text;
  }
}

TEST(EngineClient, ReadsAFileAnewEachTime) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "engine_client_page";
  std::filesystem::remove(path);
  EngineClient client({*parse_engine(path.string())});
  EXPECT_EQ(client.poll({true}, std::chrono::seconds(1), -1)[0].trouble, "no such file");
  std::ofstream(path) << "one\n";
  EXPECT_EQ(client.poll({true}, std::chrono::seconds(1), -1)[0].page, "one\n");
  std::ofstream(path) << "two\n";
  const auto replies = client.poll({true}, std::chrono::seconds(1), -1);
  EXPECT_EQ(replies[0].page, "two\n");
  EXPECT_FALSE(replies[0].health);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace unhang::collect
