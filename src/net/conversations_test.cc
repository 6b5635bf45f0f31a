// SPDX-License-Identifier: Apache-2.0
#include "net/conversations.h"

#include <array>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "net/scripted_server_for_tests.h"

namespace unhang::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLong(60);  // never reached where all is well

SocketAddress loopback(std::uint16_t port, const char* host = "127.0.0.1") {
  return resolve({host, port}, Deadline::never())->front();
}

// Sends a line, keeps what comes.
struct Listener final : Conversation {
  std::string says = "hello\n";
  std::size_t enough = std::string::npos;  // bytes
  bool done_at_once = false;
  std::string heard;
  std::optional<End> end;
  std::function<void()> at_end = [] {};

  Step on_connected() override { return {.send = says, .done = done_at_once}; }
  Step on_bytes(std::string_view bytes) override {
    heard += bytes;
    return {.done = heard.size() >= enough};
  }
  void on_end(const End& how) override {
    ASSERT_FALSE(end.has_value());
    end = how;
    at_end();
  }
};

void converse(Listener& listener, Call call, Deadline deadline = Deadline::in(kLong)) {
  Conversations all;
  call.conversation = &listener;
  all.start(std::move(call));
  all.run(deadline);
  ASSERT_TRUE(listener.end.has_value());
}

TEST(Conversations, HearsAnAnswerThatComesByteByByte) {
  const ScriptedServer server([](ServerTalk& talk) {
    const auto line = talk.read_line();
    talk.send_in_pieces(line.value_or("") + " to you, too\n", 1);
  });
  Listener listener;
  converse(listener, {loopback(server.port())});
  EXPECT_EQ(listener.heard, "hello to you, too\n");
  EXPECT_EQ(listener.end->kind, EndKind::kClosed);
  EXPECT_TRUE(listener.end->connected);
}

TEST(Conversations, EndsWhenEnoughWasHeard) {
  const ScriptedServer server([](ServerTalk& talk) {
    talk.send("0123456789");
    talk.pause(-1);
  });
  Listener listener;
  listener.enough = 10;
  converse(listener, {loopback(server.port())});
  EXPECT_EQ(listener.heard, "0123456789");
  EXPECT_EQ(listener.end->kind, EndKind::kDone);
}

TEST(Conversations, SaysThatNobodyListens) {
  const std::uint16_t port = closed_port();
  Listener listener;
  converse(listener, {loopback(port)});
  EXPECT_EQ(listener.end->kind, EndKind::kConnectFailed);
  EXPECT_FALSE(listener.end->connected);
  EXPECT_EQ(listener.end->text, "connect to 127.0.0.1:" + std::to_string(port) + ": connection refused");
}

TEST(Conversations, KeepsWhatCameBeforeAReset) {
  const ScriptedServer server([](ServerTalk& talk) {
    talk.read_line();
    talk.send("half an ans");
    talk.read_line();  // the client has it now
    talk.reset();
  });
  struct Acknowledging final : Conversation {
    std::string heard;
    std::optional<End> end;
    Step on_connected() override { return {.send = "one\n"}; }
    Step on_bytes(std::string_view bytes) override {
      heard += bytes;
      return {.send = heard.size() == 11 ? "got it\n" : ""};
    }
    void on_end(const End& how) override { end = how; }
  } conversation;
  Conversations all;
  all.start({loopback(server.port()), &conversation});
  all.run(Deadline::in(kLong));
  EXPECT_EQ(conversation.heard, "half an ans");
  ASSERT_TRUE(conversation.end.has_value());
  EXPECT_EQ(conversation.end->kind, EndKind::kBroken);
  EXPECT_EQ(conversation.end->text,
            "127.0.0.1:" + std::to_string(server.port()) + ": connection reset by peer");
}

TEST(Conversations, LeavesAMuteServerAtItsOwnDeadline) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  Listener listener;
  converse(listener, {loopback(server.port()), nullptr, Deadline::in(milliseconds(50))});
  EXPECT_EQ(listener.end->kind, EndKind::kDeadline);
  EXPECT_EQ(listener.end->text,
            "127.0.0.1:" + std::to_string(server.port()) + ": no answer before the deadline");
}

TEST(Conversations, LeavesAnEndlessAnswerAtTheDeadlineOfAll) {
  const ScriptedServer server([](ServerTalk& talk) {
    while (talk.send("more\n") && talk.pause(1)) {
    }
  });
  Listener listener;
  converse(listener, {loopback(server.port())}, Deadline::in(milliseconds(300)));
  EXPECT_EQ(listener.end->kind, EndKind::kDeadline);
  EXPECT_EQ(listener.heard.substr(0, 5), "more\n");
}

TEST(Conversations, CutsAnswersThatAreTooLong) {
  const ScriptedServer server([](ServerTalk& talk) {
    const std::string block(1 << 20, 'x');
    while (talk.send(block)) {
    }
  });
  Listener listener;
  converse(listener, {loopback(server.port()), nullptr, Deadline::never(), (3 << 20) + 17});
  EXPECT_EQ(listener.end->kind, EndKind::kTooMuch);
  EXPECT_EQ(listener.heard.size(), std::size_t{(3 << 20) + 17});
  EXPECT_EQ(listener.end->text,
            "127.0.0.1:" + std::to_string(server.port()) + ": cut off after 3145745 bytes");
}

TEST(Conversations, SendsALargeRequestPieceByPiece) {
  const ScriptedServer server([](ServerTalk& talk) {
    const auto line = talk.read_line();
    talk.send(std::to_string(line.value_or("").size()));
  });
  Listener listener;
  listener.says = std::string(20 << 20, 'y') + "\n";
  converse(listener, {loopback(server.port())});
  EXPECT_EQ(listener.heard, std::to_string(20 << 20));
}

TEST(Conversations, ReadsTheAnswerOfAServerThatDidNotWaitForTheRequest) {
  const ScriptedServer server([](ServerTalk& talk) { talk.send("go away\n"); });
  Listener listener;
  listener.says = std::string(8 << 20, 'z');
  converse(listener, {loopback(server.port())});
  // Linux may answer the unread request with a reset; what was said before is not lost by us.
  EXPECT_TRUE(listener.end->kind == EndKind::kClosed || listener.end->kind == EndKind::kBroken);
}

TEST(Conversations, AConversationMayStartAnother) {
  const ScriptedServer server([](ServerTalk& talk) { talk.send(talk.read_line().value_or("")); });
  Conversations all;
  Listener first, second;
  first.says = "first\n";
  second.says = "second\n";
  first.at_end = [&] { all.start({loopback(server.port()), &second}); };
  all.start({loopback(server.port()), &first});
  all.run(Deadline::in(kLong));
  EXPECT_EQ(first.heard, "first");
  EXPECT_EQ(second.heard, "second");
  EXPECT_TRUE(second.end.has_value());
}

TEST(Conversations, OneStartedTooLateIsEndedAsWell) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  Conversations all;
  Listener first, second;
  first.at_end = [&] { all.start({loopback(server.port()), &second}); };
  all.start({loopback(server.port()), &first});
  all.run(Deadline::in(milliseconds(50)));
  ASSERT_TRUE(second.end.has_value());
  EXPECT_EQ(second.end->kind, EndKind::kDeadline);
}

TEST(Conversations, CallsWhenTheTimeHasCome) {
  const ScriptedServer server([](ServerTalk& talk) { talk.send(talk.read_line().value_or("")); });
  Conversations all;
  Listener late;
  int calls = 0;
  all.after(Deadline::in(milliseconds(20)), [&] {
    ++calls;
    all.start({loopback(server.port()), &late});
  });
  all.after(Deadline::in(kLong * 100), [&] { ++calls; });
  all.run(Deadline::in(milliseconds(1500)));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(late.heard, "hello");
}

TEST(Conversations, StopsWhenToldTo) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const os::FileDescriptor wake(ends[0]), tell(ends[1]);
  Listener listener;
  Conversations all;
  all.start({loopback(server.port()), &listener});
  ASSERT_EQ(::write(tell.get(), "x", 1), 1);
  all.run(Deadline::in(kLong), wake.get());
  ASSERT_TRUE(listener.end.has_value());
  EXPECT_EQ(listener.end->kind, EndKind::kCancelled);
}

TEST(Conversations, ManyAtOnceInOneThread) {
  constexpr std::size_t kMany = 200;
  const ScriptedServer server(
      [](ServerTalk& talk) { talk.send("you said " + talk.read_line().value_or("")); });
  std::vector<Listener> listeners(kMany);
  Conversations all;
  for (std::size_t i = 0; i < kMany; ++i) {
    listeners[i].says = std::to_string(i) + "\n";
    all.start({loopback(server.port()), &listeners[i]});
  }
  all.run(Deadline::in(kLong));
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(listeners[i].heard, "you said " + std::to_string(i));
}

TEST(Conversations, WaitsForDescriptorsWhereTheProcessHasTooFew) {
  // Nobody accepts: the kernel does, and needs no descriptors of ours for it.
  const os::FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  const SocketAddress any_port = loopback(1);
  sockaddr_in here = *reinterpret_cast<const sockaddr_in*>(any_port.get());
  here.sin_port = 0;
  socklen_t size = sizeof(here);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&here), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1024), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);

  rlimit old = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  std::vector<Listener> listeners(60);
  Conversations all;
  for (Listener& one : listeners) {
    one.done_at_once = true;
    all.start({SocketAddress(reinterpret_cast<sockaddr*>(&here), size), &one});
  }
  rlimit low = old;
  low.rlim_cur = static_cast<rlim_t>(listener.get()) + 6;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  all.run(Deadline::in(kLong));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  for (const Listener& one : listeners) {
    ASSERT_TRUE(one.end.has_value());
    EXPECT_EQ(one.end->kind, EndKind::kDone) << one.end->text;
  }
}

// Whatever the other side does, waiting for it must not spin: a loop that finds the same event again and
// again makes a hundred thousand rounds in these 300 ms, one that waits makes as many as things happen.
TEST(Conversations, NeverSpins) {
  const auto reset = [](ServerTalk& talk) { talk.reset(); };
  const auto mute = [](ServerTalk& talk) { talk.pause(-1); };
  const auto speaks_no_more = [](ServerTalk& talk) {
    talk.shut(SHUT_WR);
    talk.pause(-1);
  };
  const auto hears_no_more = [](ServerTalk& talk) {
    talk.shut(SHUT_RD);
    talk.pause(-1);
  };
  const auto resets_after_a_word = [](ServerTalk& talk) {
    talk.send("word");
    talk.reset();
  };
  const auto closes = [](ServerTalk&) {};
  const std::vector<ScriptedServer::Script> scripts{mute,  speaks_no_more,      hears_no_more,
                                                    reset, resets_after_a_word, closes};
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    for (const std::size_t says : {std::size_t{1}, std::size_t{4} << 20}) {  // the second fills all buffers
      SCOPED_TRACE(i);
      const ScriptedServer server(scripts[i]);
      Listener listener;
      listener.says = std::string(says, 'x');
      Conversations all;
      all.start({loopback(server.port()), &listener, Deadline::in(milliseconds(300))});
      all.run(Deadline::in(kLong));
      ASSERT_TRUE(listener.end.has_value());
      EXPECT_LT(all.rounds(), 3000u);
    }
  }
}

TEST(Conversations, IsWokenByWhatIsReadable) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const os::FileDescriptor read(ends[0]);
  os::FileDescriptor write(ends[1]);
  EXPECT_FALSE(is_woken(-1));
  EXPECT_FALSE(is_woken(read.get()));
  write.close();
  EXPECT_TRUE(is_woken(read.get()));
}

TEST(Conversations, NeverSpinsWhereNobodyListensOrAnswers) {
  Listener refused, nowhere;
  Conversations all;
  all.start({loopback(closed_port()), &refused, Deadline::in(milliseconds(300))});
  all.start({loopback(9, "192.0.2.1"), &nowhere, Deadline::in(milliseconds(300))});  // for documents only
  int timers = 0;
  all.after(Deadline::in(milliseconds(-1)), [&] { ++timers; });
  all.after(Deadline::in(milliseconds(200)), [&] { ++timers; });
  all.run(Deadline::in(kLong));
  EXPECT_TRUE(refused.end.has_value() && nowhere.end.has_value());
  EXPECT_EQ(timers, 2);
  EXPECT_LT(all.rounds(), 20u);
}

TEST(Conversations, HearsIpv6) {
  const ScriptedServer server([](ServerTalk& talk) { talk.send("six"); }, {.ipv6 = true});
  if (!server.valid()) GTEST_SKIP() << "no IPv6 on this machine";
  Listener listener;
  converse(listener, {loopback(server.port(), "::1")});
  EXPECT_EQ(listener.heard, "six");
}

}  // namespace
}  // namespace unhang::net
