// SPDX-License-Identifier: Apache-2.0
#include "detect/network_endpoints.h"

#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

LogCase& error(LogCase& c, const std::string& host, const std::string& peer, std::uint32_t count = 1) {
  return c.file(host + ".log")
      .by({.host = host, .pid = 100})
      .says(LogEventKind::kCompletionError,
            {.code = 12, .subject = "mlx5_0", .peer = peer + "<4000>", .count = count});
}

// "host node9 (why)"
std::string told(const model::Case& joined) {
  const LogAnalysis logs = analyse_logs(joined);
  const NetworkEndpoints ends = judge_endpoints(logs, logs.of(LogEventKind::kCompletionError));
  const char* shape = ends.shape == EndpointShape::kHost     ? "host "
                      : ends.shape == EndpointShape::kPair   ? "pair "
                      : ends.shape == EndpointShape::kSides  ? "sides "
                      : ends.shape == EndpointShape::kSpread ? "spread "
                                                             : "none ";
  return shape + listed(ends.hosts) + (ends.witnessed ? ", witnessed" : "") + " (" + ends.why + ")";
}

TEST(NetworkEndpoints, OneHostAtTheEndOfNearlyAll) {
  LogCase c;
  for (const char* host : {"a", "b", "c", "d"}) error(c, host, "10.0.0.9");
  error(c, "a", "10.0.0.8");
  EXPECT_EQ(told(c.joined()),
            "host 10.0.0.9, witnessed (4 of 5 pairs with errors have it at one end, 4 others report them)");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium: 10.0.0.9");
}

TEST(NetworkEndpoints, LinesOfOnePairCountOnce) {
  LogCase c;
  error(c, "a", "10.0.0.9", 1'000);
  error(c, "b", "10.0.0.8");
  EXPECT_EQ(told(c.joined()).substr(0, 7), "spread ");
}

TEST(NetworkEndpoints, OnlyItsOwnLogIsNoWitness) {
  LogCase c;
  for (const char* peer : {"10.0.0.7", "10.0.0.8", "10.0.0.9"}) error(c, "a", peer);
  EXPECT_EQ(told(c.joined()), "host a (3 of 3 pairs with errors have it at one end, all reported by itself)");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium ? a");
}

TEST(NetworkEndpoints, OnePairIsNeverOneOfThem) {
  LogCase c;
  error(c, "a", "b", 40);
  EXPECT_EQ(told(c.joined()),
            "pair b and a (all errors are between b and a: the path between them, or either end)");
  error(c, "b", "a", 40);
  EXPECT_EQ(told(c.joined()),
            "pair b and a (all errors are between b and a, and both report them: the path between them, or "
            "either end)");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium ? b, a");
}

TEST(NetworkEndpoints, AcrossOneCut) {
  LogCase c;
  for (const char* host : {"a1", "a2"}) {
    for (const char* peer : {"b1", "b2"}) error(c, host, peer);
  }
  EXPECT_EQ(
      told(c.joined()),
      "sides a1 and a2 (4 pairs with errors, all of them between a1 and a2 on one side and b1 and b2 on the "
      "other, none inside: what joins the two sides (a leaf switch, an uplink))");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium");
  error(c, "a1", "a2");  // inside: no cut
  EXPECT_EQ(told(c.joined()), "spread  (5 pairs with errors and no host that is common to them)");
}

TEST(NetworkEndpoints, AddressesAreMappedToHosts) {
  LogCase c;
  c.file("d.log").by({.host = "d", .pid = 7});
  c.says(LogEventKind::kInterfaceChosen, {.subject = "eth0", .peer = "10.0.0.9<0>", .detail = "bootstrap"});
  for (const char* host : {"a", "b"}) error(c, host, "10.0.0.9");
  error(c, "c", "::ffff:10.0.0.9");
  EXPECT_EQ(told(c.joined()),
            "host d, witnessed (3 of 3 pairs with errors have it at one end, 3 others report them)");
  model::Case joined = c.joined();
  joined.hosts.push_back({"d.example", {"d"}, {}});
  EXPECT_EQ(told(joined).substr(0, 14), "host d.example");
}

TEST(NetworkEndpoints, ALineOfAFailedTransferTellsItsOwnAddress) {
  LogCase c;
  c.file("d.log").by({.host = "d", .pid = 7});
  c.says(LogEventKind::kCompletionError,
         {.code = 12,
          .peer = "10.0.0.1<4000>",
          .text = "status=12 localGid ::ffff:10.0.0.9 remoteGids ::ffff:10.0.0.1"});
  for (const char* host : {"a", "b", "c"}) error(c, host, "10.0.0.9");
  EXPECT_EQ(told(c.joined()),
            "host d, witnessed (4 of 4 pairs with errors have it at one end, 3 others report them)");
}

TEST(NetworkEndpoints, AnAddressThatEveryHostHasIsNoEnd) {
  LogCase c;
  for (const char* host : {"a", "b"}) error(c, host, "127.0.0.1");
  EXPECT_EQ(told(c.joined()).substr(0, 5), "none ");
}

TEST(NetworkEndpoints, OfSeveralLinksThatWentDownTheOneThatOthersMiss) {
  LogCase c;
  for (const char* host : {"x", "y"})
    c.file(std::string(host) + ".dmesg")
        .by({.host = host})
        .says(LogEventKind::kLinkDown, {.subject = "mlx5_0"});
  for (const char* host : {"a", "b", "c"}) error(c, host, "y");
  EXPECT_EQ(c.told(find_log_link), "transport_stall/link_down medium: y");
}

}  // namespace
}  // namespace unhang::detect
