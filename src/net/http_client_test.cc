// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <gtest/gtest.h>

#include "net/scripted_server_for_tests.h"

namespace unhang::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string url(const ScriptedServer& server, std::string_view path = "/metrics") {
  return "http://127.0.0.1:" + std::to_string(server.port()) + std::string(path);
}

HttpRequest request(std::string address, milliseconds time = seconds(60)) {
  HttpRequest result;
  result.url = std::move(address);
  result.deadline = Deadline::in(time);
  return result;
}

// Reads one request; gives its first line and all of it.
std::pair<std::string, std::string> read_request(ServerTalk& talk) {
  std::string first, all;
  while (const auto line = talk.read_line()) {
    if (first.empty()) first = *line;
    all += *line + "\n";
    if (*line == "\r") break;
  }
  return {first, all};
}

class Http : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = http_missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_F(Http, GivesStatusHeadersAndBody) {
  const ScriptedServer server([](ServerTalk& talk) {
    const auto [first, all] = read_request(talk);
    const bool as_expected =
        first == "GET /metrics HTTP/1.1\r" && all.find("X-Own: 7\r") != std::string::npos;
    talk.send_in_pieces(
        std::string("HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n") +
            (as_expected ? "good" : "bad!"),
        1);
  });
  HttpRequest asked = request(url(server));
  asked.headers = {"X-Own: 7"};
  const auto response = http_get(asked);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "good");
  EXPECT_EQ(response->header("content-type"), "text/plain");
  EXPECT_EQ(response->header("server"), "");
  EXPECT_TRUE(response->complete());
}

TEST_F(Http, CanPostNothing) {
  const ScriptedServer server([](ServerTalk& talk) {
    const auto [first, all] = read_request(talk);
    const bool as_expected =
        first == "POST /handler/x HTTP/1.1\r" && all.find("Content-Length: 0\r") != std::string::npos;
    talk.send_in_pieces(
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n") + (as_expected ? "good" : "bad!"), 1);
  });
  HttpRequest asked = request(url(server, "/handler/x"));
  asked.post = true;
  const auto response = http_get(asked);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "good");
}

TEST_F(Http, SaysThatNobodyListens) {
  const std::string where = "http://127.0.0.1:" + std::to_string(closed_port()) + "/";
  const auto response = http_get(request(where));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(response.error().message, "GET " + where + ": connection refused");
}

TEST_F(Http, LeavesAMuteServerAtTheDeadline) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  const auto response = http_get(request(url(server), milliseconds(100)));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, base::ErrorCode::kTryAgain);
  EXPECT_EQ(response.error().message, "GET " + url(server) + ": no answer before the deadline");
}

TEST_F(Http, KeepsTheBodyThatCameBeforeTheDeadline) {
  const ScriptedServer server([](ServerTalk& talk) {
    read_request(talk);
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe first line\n");
    talk.pause(-1);
  });
  const auto response = http_get(request(url(server), milliseconds(500)));
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "the first line\n");
  EXPECT_EQ(response->trouble, "no end of the answer before the deadline");
}

TEST_F(Http, KeepsTheBodyOfABrokenConnection) {
  const ScriptedServer server([](ServerTalk& talk) {
    read_request(talk);
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
  });
  const auto response = http_get(request(url(server)));
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "half");
  EXPECT_FALSE(response->complete());
}

TEST_F(Http, CutsABodyThatIsTooLong) {
  const ScriptedServer server([](ServerTalk& talk) {
    read_request(talk);
    talk.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(1 << 16, 'x');
    while (talk.send(block)) {
    }
  });
  HttpRequest asked = request(url(server));
  asked.max_bytes = 100'000;
  const auto response = http_get(asked);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body.size(), 100'000u);
  EXPECT_EQ(response->trouble, "cut off after 100000 bytes");
}

TEST_F(Http, GarbageIsNoAnswer) {
  const ScriptedServer server([](ServerTalk& talk) {
    read_request(talk);
    talk.send("NCCL version 2.28.9\n\n");
  });
  const auto response = http_get(request(url(server)));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, base::ErrorCode::kUnavailable);
}

TEST_F(Http, FollowsThreeRedirectsAndNotFour) {
  const ScriptedServer server([](ServerTalk& talk) {
    const std::string first = read_request(talk).first;  // GET /3 …: three more
    const char digit = first.size() > 5 ? first[5] : '0';
    if (digit == '0') {
      talk.send("HTTP/1.1 200 OK\r\nX-Last: yes\r\nContent-Length: 4\r\n\r\nhere");
    } else {
      const std::string next(1, static_cast<char>(digit - 1));
      talk.send("HTTP/1.1 302 Found\r\nX-First: yes\r\nLocation: /" + next +
                "\r\nContent-Length: 5\r\n\r\nthere");
    }
  });
  const auto three = http_get(request(url(server, "/3")));
  ASSERT_TRUE(three.has_value()) << three.error().message;
  EXPECT_EQ(three->status, 200);
  EXPECT_EQ(three->body, "here");
  EXPECT_EQ(three->header("x-last"), "yes");
  EXPECT_EQ(three->header("x-first"), "") << "only of the last answer";
  EXPECT_EQ(three->url, url(server, "/0"));
  const auto four = http_get(request(url(server, "/4")));
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(four->trouble, "more than 3 redirects");
}

TEST_F(Http, ARedirectNeverLeavesHttp) {
  const ScriptedServer server([](ServerTalk& talk) {
    read_request(talk);
    talk.send("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n");
  });
  const auto response = http_get(request(url(server)));
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "");
  EXPECT_FALSE(response->complete());
}

TEST_F(Http, RefusesWhatIsNoHttpAddress) {
  for (const char* text :
       {"file:///etc/passwd", "127.0.0.1:8000", "", "ftp://a/", "http://a b/", "http://a/\r\nX: y"}) {
    const auto response = http_get(request(text));
    ASSERT_FALSE(response.has_value()) << text;
    EXPECT_EQ(response.error().code, base::ErrorCode::kUsage) << response.error().message;
  }
}

TEST_F(Http, PasswordsAreNotShown) {
  const std::string port = std::to_string(closed_port());
  const auto response = http_get(request("http://me:secret@127.0.0.1:" + port + "/x"));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().message, "GET http://127.0.0.1:" + port + "/x: connection refused");
  for (const char* refused : {"me:sec/ret@a", "a?token=secret", "a/#secret"}) {
    const auto bad = http_get(request(std::string("ftp://") + refused));
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().message.find("ret"), std::string::npos) << bad.error().message;
  }
  const auto query = http_get(request("http://me:secret@127.0.0.1:" + port + "/x?token=secret"));
  ASSERT_FALSE(query.has_value());
  EXPECT_EQ(query.error().message, "GET http://127.0.0.1:" + port + "/x?…: connection refused");
}

}  // namespace
}  // namespace unhang::net
