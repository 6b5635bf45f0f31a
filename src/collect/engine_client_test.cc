// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_client.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "net/scripted_server_for_tests.h"

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

// Answers each request with `answer`, whatever was asked for.
net::ScriptedServer::Script always(std::string answer) {
  return [answer = std::move(answer)](net::ServerTalk& talk) {
    while (const auto line = talk.read_line()) {
      if (line->empty() || *line == "\r") break;
    }
    talk.send(answer);
  };
}

EngineReply ask_once(EngineClient& client) {
  return client.poll({false}, std::chrono::seconds(30), -1)[0];
}

TEST(EngineClient, ARedirectIsFollowedWithinTheServerOnly) {
  for (const char* location : {"file:///etc/passwd", "http://127.0.0.2:1/metrics", "/a\x1b[2J b", "/login"}) {
    const net::ScriptedServer server(
        always(std::string("HTTP/1.1 302 Found\r\nLocation: ") + location + "\r\nContent-Length: 0\r\n\r\n"));
    const std::string metrics = "http://127.0.0.1:" + std::to_string(server.port()) + "/metrics";
    EngineClient client({*parse_engine(metrics)});
    const EngineReply reply = ask_once(client);
    EXPECT_EQ(reply.page, "");
    EXPECT_EQ(reply.trouble.rfind("HTTP 302: the page has moved to ", 0), 0u) << reply.trouble;
    EXPECT_EQ(reply.trouble.find('\x1b'), std::string::npos);
    EXPECT_EQ(client.endpoints()[0].metrics, metrics) << "asked again where the user said";
  }
}

TEST(EngineClient, ACompressedPageIsNoPage) {
  const net::ScriptedServer server(
      always("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x09"));
  EngineClient client({*parse_engine("http://127.0.0.1:" + std::to_string(server.port()))});
  const EngineReply reply = ask_once(client);
  EXPECT_EQ(reply.page, "");
  EXPECT_EQ(reply.trouble, "its page is compressed (gzip), though that was not asked for");
}

TEST(EngineClient, TroubleShowsNoSecrets) {
  const net::ScriptedServer server(always("SSH-2.0-OpenSSH_9.2\r\n"));
  const std::string port = std::to_string(server.port());
  for (const std::string& address : {"http://127.0.0.1:" + port + "/metrics?token=hidden",
                                     "http://me:hidden@127.0.0.1:" + port + "/metrics?token=hidden"}) {
    EngineClient client({*parse_engine(address)});
    const EngineReply reply = client.poll({true}, std::chrono::seconds(30), -1)[0];
    EXPECT_EQ(reply.page, "");
    EXPECT_NE(reply.trouble, "");
    EXPECT_EQ((reply.trouble + reply.health_trouble).find("hidden"), std::string::npos) << reply.trouble;
  }
}

}  // namespace
}  // namespace unhang::collect
