// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_monitor.h"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "collect/ras_server_for_tests.h"

namespace unhang::collect {
namespace {

using net::ScriptedServer;
using net::ServerTalk;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kJsonEvent =
    "{\n  \"timestamp\": \"2026-11-29 15:13:42\",\n  \"event\": \"PEER_DEAD\",\n  \"x\": \"}\\\"\"\n}";
const std::string kTextEvent =
    "[2026-11-29 15:13:42] PEER_DEAD: Process 1919 on node 127.0.1.2 managing GPU 1 ";

struct Heard {
  std::vector<std::string> events, notes;
  RasMonitorEnd end;
};

Heard listen(const std::vector<net::HostPort>& where, RasMonitorOptions options = {},
             net::Deadline deadline = net::Deadline::in(seconds(60)), std::size_t enough = 1000) {
  // Ends through the same door as Ctrl-C when it has heard enough.
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const os::FileDescriptor wake(ends[0]), tell(ends[1]);
  options.handshake = seconds(30);
  Heard heard;
  heard.end = monitor_ras(
      where, options, deadline, wake.get(),
      [&](const std::string&, std::string_view event) {
        heard.events.emplace_back(event);
        if (heard.events.size() == enough) {
          EXPECT_EQ(::write(tell.get(), "x", 1), 1);
        }
      },
      [&](const std::string& note) { heard.notes.push_back(note); });
  return heard;
}

// NCCL's side: says OK to MONITOR and then these bytes.
ScriptedServer::Script tell(const std::string& bytes, bool json = true, bool stays = false,
                            std::shared_ptr<AskedLines> asked = std::make_shared<AskedLines>()) {
  return [=](ServerTalk& talk) {
    while (const auto line = talk.read_line()) {
      asked->add(*line);
      if (line->rfind("CLIENT", 0) == 0) {
        talk.send("SERVER PROTOCOL 2\n");
      } else if (line->rfind("TIMEOUT", 0) == 0 || (json && line->rfind("SET", 0) == 0)) {
        talk.send("OK\n");
      } else if (line->rfind("MONITOR", 0) == 0) {
        talk.send_in_pieces("OK\n" + bytes, 7);
        if (stays) talk.pause(-1);
        return;
      } else {
        talk.send("ERROR: Unknown command\n");
      }
    }
  };
}

net::HostPort at(const ScriptedServer& server) {
  return {"127.0.0.1", server.port()};
}

TEST(RasMonitor, HandsOutWholeEvents) {
  const auto asked = std::make_shared<AskedLines>();
  const ScriptedServer server(tell(kJsonEvent + "\n" + kJsonEvent + "\n{ \"half\":", true, false, asked));
  const Heard heard = listen({at(server)});
  EXPECT_EQ(heard.events, (std::vector<std::string>{kJsonEvent, kJsonEvent}));
  EXPECT_EQ(heard.end.listened, 1u);
  ASSERT_EQ(heard.end.troubles.size(), 1u);
  EXPECT_EQ(heard.end.troubles[0], at(server).text() + ": the other side closed the connection");
  EXPECT_EQ(asked->all(),
            (std::vector<std::string>{"CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "MONITOR all"}));
}

TEST(RasMonitor, TakesLinesWhereThereIsNoJson) {
  const ScriptedServer server(tell(kTextEvent + "\r\n\n" + kTextEvent + "\n", false));
  EXPECT_EQ(listen({at(server)}).events, (std::vector<std::string>{kTextEvent, kTextEvent}));
}

TEST(RasMonitor, SaysWhatOldReleasesLack) {
  const ScriptedServer server([](ServerTalk& talk) { play({.text = "x"})(talk); });
  const Heard heard = listen({at(server)});
  EXPECT_EQ(heard.end.listened, 0u);
  ASSERT_EQ(heard.end.troubles.size(), 1u);
  EXPECT_EQ(heard.end.troubles[0],
            at(server).text() +
                ": it answered 'ERROR: Unknown command MONITOR all': events need NCCL 2.29.2 or later");
}

TEST(RasMonitor, EndsAtTheDeadlineAndWhenToldTo) {
  const ScriptedServer server(tell(kTextEvent + "\n", true, true));
  const Heard until = listen({at(server)}, {}, net::Deadline::in(milliseconds(1500)));
  EXPECT_TRUE(until.end.deadline);
  EXPECT_EQ(until.end.listened, 1u);
  EXPECT_TRUE(until.end.troubles.empty());
  const Heard told = listen({at(server)}, {}, net::Deadline::in(seconds(60)), 1);
  EXPECT_TRUE(told.end.interrupted);
}

TEST(RasMonitor, ConnectsAnewWhenAsked) {
  const ScriptedServer server(tell(kTextEvent + "\n"));
  RasMonitorOptions options;
  options.reconnect = true;
  options.pause = milliseconds(10);
  const Heard heard = listen({at(server)}, options, net::Deadline::in(seconds(60)), 3);
  EXPECT_EQ(heard.events.size(), 3u);
  EXPECT_TRUE(heard.end.interrupted);
  EXPECT_EQ(server.connections(), 3);
}

TEST(RasMonitor, TriesEachAddressOfAName) {
  const ScriptedServer six(tell(kTextEvent + "\n"), {.ipv6 = true});
  if (!six.valid()) GTEST_SKIP() << "no IPv6 on this machine";
  EXPECT_EQ(listen({{"localhost", six.port()}}).events.size(), 1u);
}

TEST(RasEventSplitter, DropsWhatNeverEnds) {
  RasEventSplitter splitter;
  int events = 0;
  const auto count = [&](std::string_view) { ++events; };
  for (int i = 0; i < 40; ++i) splitter.feed(std::string(100'000, 'x'), count);
  EXPECT_EQ(events, 0);
  splitter.feed("\n" + kTextEvent + "\n", count);
  EXPECT_EQ(events, 1);
}

}  // namespace
}  // namespace unhang::collect
