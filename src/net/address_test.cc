// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "net/abandonable_call.h"

namespace unhang::net {
namespace {

std::string parsed(std::string_view text) {
  const auto result = parse_host_port(text, 28028);
  return result ? result->text() : result.error().message;
}

std::vector<std::string> texts(const HostPort& where) {
  const auto found = resolve(where, Deadline::in(std::chrono::seconds(60)));
  std::vector<std::string> all;
  if (!found) return {found.error().message};
  for (const SocketAddress& address : *found) all.push_back(address.text());
  return all;
}

TEST(HostPort, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parsed("node3:4711"), "node3:4711");
  EXPECT_EQ(parsed("node3"), "node3:28028");
  EXPECT_EQ(parsed("[::1]:4711"), "[::1]:4711");
  EXPECT_EQ(parsed("[::1]"), "[::1]:28028");
  EXPECT_EQ(parsed("fe80::1%eth0"), "[fe80::1%eth0]:28028");
  EXPECT_EQ(parsed("127.0.0.1:65535"), "127.0.0.1:65535");
}

TEST(HostPort, RefusesTheRest) {
  for (const char* text : {"", ":28028", "a:0", "a:65536", "a:", "a:x", "a:1x", "[::1", "[::1]1", "[]:5",
                           "a b:5", "http://a:5", "a:-1", "a\n:5"}) {
    const auto result = parse_host_port(text, 28028);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(result.error().message.find("HOST:PORT"), std::string::npos);
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(parsed("a:65536"),
            "'a:65536': a port is a number from 1 to 65535; addresses are written HOST:PORT or [IPV6]:PORT");
}

TEST(Resolve, LocalhostIsBothLoopbackAddresses) {
  const std::vector<std::string> both = {"127.0.0.1:28028", "[::1]:28028"};
  EXPECT_EQ(texts({"localhost", 28028}), both);
  EXPECT_EQ(texts({"LocalHost", 28028}), both);
}

TEST(Resolve, NumbersNeedNobody) {
  EXPECT_EQ(texts({"10.1.2.3", 5}), std::vector<std::string>{"10.1.2.3:5"});
  EXPECT_EQ(texts({"2001:db8::7", 5}), std::vector<std::string>{"[2001:db8::7]:5"});
}

TEST(Resolve, TellsWhatKindOfAddressItIs) {
  const auto address = [](const char* host) { return resolve({host, 9}, Deadline::never())->front(); };
  EXPECT_TRUE(address("127.0.0.2").is_loopback());
  EXPECT_TRUE(address("::1").is_loopback());
  EXPECT_TRUE(address("::ffff:127.0.0.1").is_loopback());
  EXPECT_FALSE(address("10.0.0.1").is_loopback());
  EXPECT_TRUE(address("0.0.0.0").is_any());
  EXPECT_TRUE(address("::").is_any());
  EXPECT_EQ(address("::ffff:10.0.0.1").ip_bytes(), address("10.0.0.1").ip_bytes());
  EXPECT_EQ(address("10.0.0.1").port(), 9);
}

TEST(Resolve, ANameThatDoesNotExistIsSaidToBeSo) {
  const auto found = resolve({"no-such-host.invalid", 1}, Deadline::in(std::chrono::seconds(60)));
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("no-such-host.invalid"), std::string::npos);
}

TEST(CallUntil, GivesTheValueOrGivesUp) {
  EXPECT_EQ(call_until<int>(Deadline::in(std::chrono::seconds(60)), [] { return 7; }), 7);
  const auto gate = std::make_shared<std::promise<void>>();
  const auto stuck = call_until<int>(Deadline::in(std::chrono::milliseconds(20)), [gate] {
    gate->get_future().wait();
    return 7;
  });
  EXPECT_FALSE(stuck.has_value());
  gate->set_value();
}

SteadyTime g_now;

TEST(Deadline, FollowsTheClockThatItWasGiven) {
  g_now = SteadyTime(std::chrono::seconds(100));
  const Deadline deadline = Deadline::in(std::chrono::milliseconds(1500), [] { return g_now; });
  EXPECT_FALSE(deadline.passed());
  EXPECT_EQ(deadline.poll_milliseconds(), 1500);
  g_now += std::chrono::nanoseconds(1);
  EXPECT_EQ(deadline.poll_milliseconds(), 1500) << "rounded up";
  g_now += std::chrono::seconds(2);
  EXPECT_TRUE(deadline.passed());
  EXPECT_EQ(deadline.left().count(), 0);
  EXPECT_EQ(deadline.poll_milliseconds(), 0);
}

TEST(Deadline, NeverIsNeverAndTheSoonerOneHolds) {
  const Deadline never = Deadline::never();
  EXPECT_FALSE(never.passed());
  EXPECT_EQ(never.poll_milliseconds(), -1);
  EXPECT_FALSE(Deadline::in(std::chrono::nanoseconds::max()).passed());
  const Deadline soon = Deadline::in(std::chrono::seconds(1));
  EXPECT_EQ(never.or_sooner(soon).when(), soon.when());
  EXPECT_EQ(soon.or_sooner(never).when(), soon.when());
  EXPECT_EQ(soon.or_sooner(std::chrono::hours(1)).when(), soon.when());
}

}  // namespace
}  // namespace unhang::net
