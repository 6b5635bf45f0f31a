// SPDX-License-Identifier: Apache-2.0
#include "net/http_exchange.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace unhang::net {
namespace {

// The whole answer at once, then the end of the connection.
HttpAnswerReader read(std::string_view bytes, std::size_t most = 1000) {
  HttpAnswerReader reader(most);
  reader.take(bytes);
  reader.end("");
  return reader;
}

constexpr std::string_view kWithLength =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nhell\r\n1\r\no\r\n0\r\nTrailer: 1\r\n\r\n";
constexpr std::string_view kUntilClose = "HTTP/1.0 200 OK\n\nhello";

TEST(HttpAnswer, BodiesOfAllKinds) {
  for (const std::string_view bytes : {kWithLength, kChunked, kUntilClose}) {
    const HttpAnswerReader reader = read(bytes);
    EXPECT_EQ(reader.failure, "") << bytes;
    EXPECT_EQ(reader.response.status, 200);
    EXPECT_EQ(reader.response.body, "hello") << bytes;
    EXPECT_TRUE(reader.response.complete()) << reader.response.trouble;
  }
  EXPECT_EQ(read(kWithLength).response.header("content-type"), "text/plain");
}

TEST(HttpAnswer, KnowsItsEndBeforeTheConnectionHasOne) {
  for (const std::string_view bytes : {kWithLength, kChunked}) {
    HttpAnswerReader reader(1000);
    EXPECT_FALSE(reader.take(bytes.substr(0, bytes.size() - 1)));
    EXPECT_TRUE(reader.take(bytes.substr(bytes.size() - 1)));
  }
  HttpAnswerReader without_body(1000);
  EXPECT_TRUE(without_body.take("HTTP/1.1 204 No Content\r\n\r\n"));
  HttpAnswerReader empty(1000);
  EXPECT_TRUE(empty.take("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"));
  EXPECT_EQ(empty.response.status, 503);
}

RC_GTEST_PROP(HttpAnswerProperty, BordersOfPacketsMeanNothing, ()) {
  const std::string_view bytes =
      *rc::gen::elementOf(std::vector<std::string_view>{kWithLength, kChunked, kUntilClose});
  HttpAnswerReader reader(1000);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = *rc::gen::inRange<std::size_t>(1, 20);
    reader.take(bytes.substr(at, size));
    at += size;
  }
  reader.end("");
  RC_ASSERT(reader.response.body == "hello");
  RC_ASSERT(reader.response.complete());
}

TEST(HttpAnswer, WhatIsCutSaysSo) {
  for (const std::string_view bytes : {kWithLength, kChunked}) {
    for (std::size_t size = bytes.find("\r\n\r\n") + 4; size < bytes.size(); ++size) {
      const HttpAnswerReader reader = read(bytes.substr(0, size));
      EXPECT_FALSE(reader.response.complete()) << bytes.substr(0, size);
      EXPECT_EQ(reader.failure, "");
    }
    const HttpAnswerReader none = read(bytes.substr(0, 10));
    EXPECT_EQ(none.failure, "the server closed without an answer");
  }
  HttpAnswerReader late(1000);
  late.take(kUntilClose);
  late.end("no end within 2 s");
  EXPECT_EQ(late.response.trouble, "no end within 2 s");
  EXPECT_EQ(late.response.body, "hello");
}

TEST(HttpAnswer, RefusesWhatIsNoHttp) {
  for (const std::string_view bytes :
       {"SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1\r\n\r\n", "x"}) {
    EXPECT_EQ(read(bytes).failure, "this is no HTTP server") << bytes;
  }
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n").response.trouble,
            "its Content-Length is no number");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx").response.trouble,
            "its Content-Length is no number");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").response.trouble,
            "a chunk without a size");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n").response.trouble,
            "a chunk that is longer than it says");
}

TEST(HttpAnswer, CeilingsAreKept) {
  HttpAnswerReader body(10);
  EXPECT_TRUE(body.take("HTTP/1.1 200 OK\r\n\r\n" + std::string(11, 'x')));
  EXPECT_EQ(body.response.body, std::string(10, 'x'));
  EXPECT_FALSE(body.response.complete());
  HttpAnswerReader head(10);
  EXPECT_TRUE(head.take("HTTP/1.1 200 OK\r\n" + std::string(100'000, 'x')));
  EXPECT_EQ(head.failure, "its HTTP headers never end");
}

TEST(HttpAnswer, AnInterimAnswerIsPassedOver) {
  EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\n" + std::string(kWithLength)).response.body, "hello");
}

TEST(PlainUrl, IsTakenApart) {
  const auto url = parse_plain_url("http://node3:8000/metrics?a=b#c");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, (HostPort{"node3", 8000}));
  EXPECT_EQ(url->target, "/metrics?a=b");
  EXPECT_EQ(parse_plain_url("HTTP://[::1]:80")->target, "/");
  EXPECT_EQ(parse_plain_url("http://a?x")->target, "/?x");
  EXPECT_EQ(parse_plain_url("http://a")->host.port, 80);
  for (const char* other : {"https://a/", "http://", "http:///x", "http://u:p@a/", "a:80", "http://a:x/",
                            "http://a/ b", "http://a/\r\nX: y", ""}) {
    EXPECT_FALSE(parse_plain_url(other)) << other;
  }
}

TEST(HttpExchange, AsksForThePageAndGivesErrorsAsHttpGetDoes) {
  HttpExchange exchange(*parse_plain_url("http://node3:8000/metrics"), 1000);
  const Step step = exchange.on_connected();
  EXPECT_EQ(step.send.rfind("GET /metrics HTTP/1.1\r\nHost: node3:8000\r\n", 0), 0u);
  EXPECT_TRUE(exchange.on_bytes(kWithLength).done);
  exchange.on_end({EndKind::kDone, true, {}});
  EXPECT_FALSE(exchange.failed());
  const auto response = exchange.take_result();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->url, "http://node3:8000/metrics");

  HttpExchange refused(*parse_plain_url("http://node3:8000/"), 1000);
  refused.on_end({EndKind::kConnectFailed, false, "connection refused"});
  EXPECT_TRUE(refused.failed());
  EXPECT_EQ(refused.take_result().error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(refused.take_result().error().message, "connection refused");

  HttpExchange mute(*parse_plain_url("http://node3:8000/"), 1000);
  mute.on_connected();
  mute.on_end({EndKind::kDeadline, true, "no answer within 2 s"});
  EXPECT_EQ(mute.take_result().error().code, base::ErrorCode::kTryAgain);
}

}  // namespace
}  // namespace unhang::net
