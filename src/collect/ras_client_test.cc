// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_client.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "collect/ras_addresses.h"
#include "collect/ras_server_for_tests.h"

namespace unhang::collect {
namespace {

using net::ScriptedServer;
using net::ServerTalk;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kJson = json_report("2.29.7", "0x634a4b09acc8e46", {101, 102});
const std::string kOldText = text_report("2.24.3", 2);

// Nothing of this machine's /proc is looked at; deadlines far beyond what a loaded machine takes.
RasClientOptions options() {
  RasClientOptions result;
  result.timeout = seconds(60);
  result.handshake = seconds(30);
  result.connections = 1;
  result.proc_root = "";
  return result;
}

std::string address(const ScriptedServer& server, const char* host = "127.0.0.1") {
  return net::HostPort{host, server.port()}.text();
}

RasPoll poll(const std::string& list, RasClientOptions how = options()) {
  RasClient client(*parse_ras_addresses(list), std::move(how));
  return client.poll();
}

// The only reply.
RasReply reply(const std::string& list, RasClientOptions how = options()) {
  RasPoll all = poll(list, std::move(how));
  EXPECT_EQ(all.replies.size(), 1u);
  return all.replies.empty() ? RasReply() : std::move(all.replies.front());
}

TEST(RasClient, AsksForJsonFirst) {
  const PlayedRas ras{.text = "never", .verbose_text = "never", .json = kJson};
  const ScriptedServer server(play(ras));
  const RasReply got = reply(address(server));
  EXPECT_EQ(got.bytes, kJson);
  EXPECT_TRUE(got.is_json);
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(got.trouble, "");
  EXPECT_EQ(got.asked, address(server));
  EXPECT_EQ(got.resolved, address(server));
  EXPECT_EQ(got.attempts, 1);
  EXPECT_GT(got.started_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(ras.asked->all(),
            (std::vector<std::string>{"CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "STATUS"}));
}

TEST(RasClient, TakesTextWhereThereIsNothingElse) {
  const PlayedRas ras{.text = kOldText, .verbose_text = "never"};
  const ScriptedServer server(play(ras));
  const RasReply got = reply(address(server));
  EXPECT_EQ(got.bytes, kOldText);
  EXPECT_FALSE(got.is_json);
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(ras.asked->count("STATUS"), 1);
}

TEST(RasClient, AsksForAllNamesOnAFreshConnection) {
  std::string lacking = kOldText, verbose = kOldText;
  const std::string block =
      "#0-0 (634a4b09acc8e46) MISMATCH\n  Communicator ranks have different collective operation counts\n"
      "  1 ranks have launched up to operation 9\n\n";
  lacking += block;
  verbose += block + "  Rank 1 -- GPU 1 managed by process 102 on node 10.0.0.1\n";
  const PlayedRas ras{.text = lacking, .verbose_text = verbose};
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.verbose = true;
  const RasPoll got = poll(address(server), how);
  ASSERT_EQ(got.replies.size(), 2u);
  EXPECT_EQ(got.replies[0].bytes, lacking);
  EXPECT_EQ(got.replies[1].bytes, verbose);
  EXPECT_EQ(ras.asked->count("STATUS"), 1);
  EXPECT_EQ(ras.asked->count("VERBOSE STATUS"), 1);
  EXPECT_EQ(server.connections(), 2);

  // Where the release is known before, once is enough.
  how.release = NcclRelease{2, 24, 3};
  EXPECT_EQ(reply(address(server), how).bytes, verbose);
}

TEST(RasClient, BordersOfPacketsMeanNothing) {
  PlayedRas ras{.text = "", .verbose_text = "", .json = kJson};
  ras.report = [](ServerTalk& talk, const std::string& bytes) { talk.send_in_pieces(bytes, 1); };
  const ScriptedServer server(play(ras));
  EXPECT_EQ(reply(address(server)).bytes, kJson);
  // All answers of the service in one piece, before it was asked.
  const ScriptedServer eager([](ServerTalk& talk) {
    talk.send("SERVER PROTOCOL 2\r\nOK\r\nOK\r\n" + kJson);
    talk.read_line();
    talk.pause(20);
  });
  const RasReply got = reply(address(eager));
  EXPECT_EQ(got.bytes, kJson);
  EXPECT_TRUE(got.complete);
}

TEST(RasClient, APauseIsNotTheEnd) {
  PlayedRas ras{.text = kOldText};
  ras.report = [](ServerTalk& talk, const std::string& bytes) {
    const std::size_t middle = bytes.find(" (0.00s)");
    talk.send(bytes.substr(0, middle));
    talk.pause(300);
    talk.send(bytes.substr(middle));
  };
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.handshake = milliseconds(100);  // binds only until the request was sent
  how.retries = 50;                   // a loaded machine may miss it then
  EXPECT_EQ(reply(address(server), how).bytes, kOldText);
}

TEST(RasClient, KeepsWhatCameBeforeTheProcessDied) {
  PlayedRas ras{.json = kJson};
  ras.report = [](ServerTalk& talk, const std::string& bytes) { talk.send(bytes.substr(0, 200)); };
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  const RasReply got = reply(address(server), how);  // two of them, equal
  EXPECT_EQ(got.bytes, kJson.substr(0, 200));
  EXPECT_FALSE(got.complete);
  EXPECT_EQ(got.trouble,
            "the report ends after 200 bytes: " + address(server) + ": the other side closed the connection");
  EXPECT_EQ(server.connections(), 2);
}

TEST(RasClient, ATextWithoutItsLastSectionIsNotWhole) {
  PlayedRas ras{.text = kOldText.substr(0, kOldText.find("Warnings"))};
  const ScriptedServer server(play(ras));
  EXPECT_FALSE(reply(address(server)).complete);
}

TEST(RasClient, KeepsWhatCameBeforeTheDeadline) {
  PlayedRas ras{.json = kJson};
  ras.report = [](ServerTalk& talk, const std::string& bytes) {
    talk.send(bytes.substr(0, 100));
    talk.pause(-1);
  };
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.timeout = milliseconds(700);
  const RasReply got = reply(address(server), how);
  EXPECT_EQ(got.bytes, kJson.substr(0, 100));
  EXPECT_TRUE(got.deadline);
  EXPECT_EQ(got.trouble, "the report ends after 100 bytes: the deadline passed");
}

TEST(RasClient, AnEndlessSlowAnswerEndsAtTheDeadline) {
  PlayedRas ras{.text = "NCCL version 2.24.3 compiled with CUDA 12.8\n"};
  ras.report = [](ServerTalk& talk, const std::string& bytes) {
    while (talk.send(bytes) && talk.pause(5)) {
    }
  };
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.timeout = milliseconds(700);
  const RasReply got = reply(address(server), how);
  EXPECT_FALSE(got.complete);
  EXPECT_EQ(got.bytes.substr(0, 12), "NCCL version");
}

TEST(RasClient, AHugeAnswerIsCutAndKept) {
  PlayedRas ras{.json = "{\n"};
  ras.report = [](ServerTalk& talk, const std::string& bytes) {
    talk.send(bytes);
    const std::string block(1 << 20, ' ');
    for (int i = 0; i < 64 && talk.send(block); ++i) {
    }
  };
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.max_bytes = std::size_t{8} << 20;
  how.retries = 0;
  const RasReply got = reply(address(server), how);
  EXPECT_FALSE(got.complete);
  EXPECT_GT(got.bytes.size(), how.max_bytes - 100);  // the lines of the protocol count, too
  EXPECT_LE(got.bytes.size(), how.max_bytes);
  EXPECT_NE(got.trouble.find("cut off after 8388608 bytes"), std::string::npos) << got.trouble;
}

TEST(RasClient, AHugeAnswerThatIsAllowedIsRead) {
  PlayedRas ras{.json = "{\"x\": \"" + std::string(std::size_t{63} << 20, 'x') + "\"}\n"};
  const ScriptedServer server(play(ras));
  const RasReply got = reply(address(server));
  EXPECT_TRUE(got.complete) << got.trouble;
  EXPECT_EQ(got.bytes.size(), ras.json.size());
}

TEST(RasClient, SaysWhatElseListensThere) {
  const ScriptedServer web([](ServerTalk& talk) { talk.send("HTTP/1.1 400 Bad Request\r\n\r\n\x1b[31m"); });
  const RasReply got = reply(address(web));
  EXPECT_EQ(got.bytes, "");
  EXPECT_EQ(got.trouble, address(web) + ": this is not NCCL RAS: it said 'HTTP/1.1 400 Bad Request'");
  EXPECT_EQ(web.connections(), 1) << "no use asking again";
}

TEST(RasClient, GarbageWithoutALineEnds) {
  const ScriptedServer noise([](ServerTalk& talk) {
    const std::string block(4096, '\x7f');
    while (talk.send(block)) {
    }
  });
  const RasReply got = reply(address(noise));
  EXPECT_NE(got.trouble.find("this is not NCCL RAS: it said '\\x7f"), std::string::npos) << got.trouble;
  EXPECT_LT(got.trouble.size(), 400u);
}

TEST(RasClient, AnErrorForAnAnswerIsNoReport) {
  PlayedRas ras{.text = "ERROR: out of memory\n"};
  const ScriptedServer server(play(ras));
  const RasReply got = reply(address(server));
  EXPECT_EQ(got.bytes, "");
  EXPECT_EQ(got.trouble, address(server) + ": it answered 'ERROR: out of memory'");
}

TEST(RasClient, TriesAgainAfterAReset) {
  const auto first = std::make_shared<std::atomic<bool>>(true);
  const ScriptedServer server([first](ServerTalk& talk) {
    if (first->exchange(false)) {
      talk.read_line();
      return talk.reset();
    }
    play({.json = kJson})(talk);
  });
  const RasReply got = reply(address(server));
  EXPECT_EQ(got.bytes, kJson);
  EXPECT_EQ(got.attempts, 2);
  EXPECT_EQ(got.mute, 0);
}

TEST(RasClient, SkipsAStoppedProcessBehindThePort) {
  const auto mute = std::make_shared<std::atomic<int>>(2);
  const ScriptedServer server([mute](ServerTalk& talk) {
    if (mute->fetch_sub(1) > 0) {
      talk.pause(-1);
      return;
    }
    play({.json = kJson})(talk);
  });
  RasClientOptions how = options();
  how.handshake = milliseconds(150);
  how.retries = 40;  // a loaded machine may miss the handshake now and then
  const RasPoll got = poll(address(server), how);
  ASSERT_EQ(got.replies.size(), 1u);
  EXPECT_EQ(got.replies[0].bytes, kJson);
  EXPECT_GE(got.replies[0].mute, 2);
  ASSERT_EQ(got.notes.size(), 1u);
  EXPECT_NE(got.notes[0].find("accepted and never answered: a stopped process behind the port"),
            std::string::npos);
}

TEST(RasClient, WhereAllAreStoppedItSaysSo) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  RasClientOptions how = options();
  how.handshake = milliseconds(20);
  how.retries = 3;
  const RasReply got = reply(address(server), how);
  EXPECT_EQ(got.attempts, 4);
  EXPECT_EQ(got.trouble,
            address(server) +
                ": 4 of 4 connections were accepted and never answered: a stopped process behind the port");
}

TEST(RasClient, NobodyListens) {
  const std::string where = "127.0.0.1:" + std::to_string(net::closed_port());
  const RasPoll got = poll(where);
  ASSERT_EQ(got.replies.size(), 1u);
  EXPECT_EQ(got.replies[0].trouble, "connect to " + where + ": connection refused");
  EXPECT_FALSE(got.any_report());
}

TEST(RasClient, EveryAddressOfANameIsTried) {
  const ScriptedServer six(play({.json = kJson}), {.ipv6 = true});
  if (!six.valid()) GTEST_SKIP() << "no IPv6 on this machine";
  const RasReply got = reply(address(six, "localhost"));
  EXPECT_EQ(got.bytes, kJson);
  EXPECT_EQ(got.asked, address(six, "localhost"));
  EXPECT_EQ(got.resolved, address(six, "::1"));
}

TEST(RasClient, TheSameAnswerFromTwoAddressesIsOne) {
  const ScriptedServer four(play({.json = kJson}));
  std::string later = kJson;
  later.replace(later.find("15:01:29"), 8, "15:01:30");
  later.replace(later.find("0.001"), 5, "0.002");
  const ScriptedServer six(play({.json = later}), {.ipv6 = true, .port = four.port()});
  if (!six.valid()) GTEST_SKIP() << "no IPv6 on this machine";
  EXPECT_EQ(poll(address(four, "localhost")).replies.size(), 1u);
  EXPECT_EQ(four.connections() + six.connections(), 2);
}

TEST(RasClient, ManyAddressesAtOnce) {
  const ScriptedServer good(play({.json = kJson})), old(play({.text = kOldText}));
  const std::string closed = "127.0.0.1:" + std::to_string(net::closed_port());
  const RasPoll got = poll(address(good) + "," + closed + "," + address(old));
  ASSERT_EQ(got.replies.size(), 3u);
  EXPECT_EQ(got.replies[0].bytes, kJson);
  EXPECT_EQ(got.replies[1].asked, closed);
  EXPECT_EQ(got.replies[1].bytes, "");
  EXPECT_EQ(got.replies[2].bytes, kOldText);
}

TEST(RasClient, TwoClientsDoNotDisturbEachOther) {
  const ScriptedServer server(play({.json = kJson}));
  RasReply first, second;
  std::thread one([&] { first = reply(address(server)); });
  std::thread two([&] { second = reply(address(server)); });
  one.join();
  two.join();
  EXPECT_EQ(first.bytes, kJson);
  EXPECT_EQ(second.bytes, kJson);
}

TEST(RasClient, EndsWhenInterrupted) {
  const ScriptedServer server([](ServerTalk& talk) { talk.pause(-1); });
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const os::FileDescriptor wake(ends[0]), tell(ends[1]);
  ASSERT_EQ(::write(tell.get(), "x", 1), 1);
  RasClient client(*parse_ras_addresses(address(server)), options());
  const RasPoll got = client.poll(wake.get());
  EXPECT_TRUE(got.interrupted);
  ASSERT_EQ(got.replies.size(), 1u);
  EXPECT_EQ(got.replies[0].trouble, address(server) + ": interrupted");
}

TEST(RasClient, ANameThatDoesNotExistIsAReplyWithTrouble) {
  const RasReply got = reply("no-such-host.invalid:1");
  EXPECT_EQ(got.resolved, "");
  EXPECT_NE(got.trouble.find("no-such-host.invalid"), std::string::npos);
}

// --- releases that must not be asked ---

RasClientOptions with_release(NcclRelease release, bool force = false) {
  RasClientOptions how = options();
  how.release = release;
  how.force = force;
  return how;
}

TEST(RasClient, RefusesReleasesThatMayCrash) {
  const ScriptedServer server(play({.text = text_report("2.26.5", 2)}));
  const RasReply got = reply(address(server), with_release({2, 26, 5}));
  EXPECT_TRUE(got.refused);
  EXPECT_EQ(got.bytes, "");
  EXPECT_EQ(
      got.trouble,
      "not asked: NCCL 2.26.5: asking while a communicator is being made can crash the process that answers "
      "(NVIDIA/nccl#1669, fixed in 2.27.3) (as given)");
  EXPECT_EQ(server.connections(), 0);
  EXPECT_EQ(reply(address(server), with_release({2, 26, 5}, true)).bytes, text_report("2.26.5", 2));
}

TEST(RasClient, WhereOnlyJsonIsSafeNoTextIsAskedFor) {
  const PlayedRas ras{.text = text_report("2.28.9", 2)};
  const ScriptedServer server(play(ras));
  const RasReply got = reply(address(server), with_release({2, 28, 9}));
  EXPECT_TRUE(got.refused);
  EXPECT_NE(got.trouble.find("NVIDIA/nccl#1762"), std::string::npos) << got.trouble;
  EXPECT_EQ(ras.asked->count("STATUS"), 0);
  EXPECT_EQ(reply(address(server), with_release({2, 28, 9}, true)).bytes, text_report("2.28.9", 2));
}

TEST(RasClient, AFirstAnswerMayShowThatThereMustBeNoSecond) {
  const PlayedRas ras{.text = text_report("2.27.7", 2)};
  const ScriptedServer server(play(ras));
  RasClientOptions how = options();
  how.connections = 5;
  how.verbose = true;
  RasClient client(*parse_ras_addresses(address(server)), how);
  const RasPoll first = client.poll();
  ASSERT_EQ(first.replies.size(), 1u);
  EXPECT_EQ(first.replies[0].bytes, ras.text);
  ASSERT_EQ(first.notes.size(), 1u);
  EXPECT_NE(first.notes[0].find("not asked again: NCCL 2.27.7"), std::string::npos) << first.notes[0];
  const RasPoll second = client.poll();
  ASSERT_EQ(second.replies.size(), 1u);
  EXPECT_TRUE(second.replies[0].refused);
  EXPECT_NE(second.replies[0].trouble.find("(its first answer says so)"), std::string::npos);
  EXPECT_EQ(server.connections(), 1);
}

// --- several jobs behind one port ---

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "unhang-proc-XXXXXX").string();
    x_root = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~TempFolder() {
    if (!x_root.empty()) std::filesystem::remove_all(x_root);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string path(const std::string& name) const { return x_root + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

 private:
  std::string x_root;
};

// A /proc in which these processes listen on that port of 127.0.0.1.
class FakeProc {
 public:
  FakeProc(std::uint16_t port, const std::vector<int>& pids) {
    constexpr std::array kDigits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
    std::string hex;
    for (const int shift : {12, 8, 4, 0}) hex += kDigits.at((port >> shift) & 15);
    std::string table =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    table +=
        "   0: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7 1 0\n";
    for (const int pid : pids) {
      table += "   1: 0100007F:" + hex +
               " 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 9" +
               std::to_string(pid) + " 1 0000 100 0 0 10 0\n";
      table += "   2: 0100007F:" + hex +
               " 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 8" +
               std::to_string(pid) + " 1 0000 100 0 0 10 0\n";
      x_folder.write(std::to_string(pid) + "/fd/0", "");
      std::filesystem::create_symlink("socket:[9" + std::to_string(pid) + "]",
                                      x_folder.path(std::to_string(pid) + "/fd/5"));
    }
    x_folder.write("net/tcp", table);
    x_folder.write("net/tcp6", "");
    x_folder.write("version", "Linux");
  }
  std::string root() const { return x_folder.path(""); }
  const TempFolder& folder() const { return x_folder; }

 private:
  TempFolder x_folder;
};

RasClientOptions looking_at(const FakeProc& proc) {
  RasClientOptions how = options();
  how.connections.reset();
  how.proc_root = proc.root();
  return how;
}

// As the kernel does it: each connection to the next of the reports.
net::ScriptedServer::Script in_turn(std::vector<std::string> reports) {
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [next, reports = std::move(reports)](ServerTalk& talk) {
    play({.json = reports[next->fetch_add(1) % reports.size()]})(talk);
  };
}

TEST(RasClient, AsksUntilEveryProcessThatListensWasHeardOf) {
  const std::string first = json_report("2.29.7", "0xaaa", {101, 102}),
                    second = json_report("2.29.7", "0xbbb", {103});
  const ScriptedServer server(in_turn({first, first, first, second, first}));
  const FakeProc proc(server.port(), {101, 102, 103});
  const RasPoll got = poll(address(server), looking_at(proc));
  ASSERT_EQ(got.replies.size(), 2u);  // equal ones are one
  EXPECT_EQ(got.replies[0].bytes, first);
  EXPECT_EQ(got.replies[1].bytes, second);
  EXPECT_EQ(server.connections(), 4);
}

TEST(RasClient, OneConnectionIsEnoughForOneJob) {
  const ScriptedServer server(play({.json = json_report("2.29.7", "0xaaa", {101, 102, 103})}));
  const FakeProc proc(server.port(), {101, 102, 103});
  EXPECT_EQ(poll(address(server), looking_at(proc)).replies.size(), 1u);
  EXPECT_EQ(server.connections(), 1);
}

TEST(RasClient, TextNamesNobodySoProcessesAreCounted) {
  const ScriptedServer server(play({.text = text_report("2.24.3", 3)}));
  const FakeProc proc(server.port(), {101, 102, 103});
  EXPECT_EQ(poll(address(server), looking_at(proc)).replies.size(), 1u);
  EXPECT_EQ(server.connections(), 1);
}

TEST(RasClient, AfterSixteenConnectionsItIsEnough) {
  const ScriptedServer server(play({.json = json_report("2.29.7", "0xaaa", {101})}));
  const FakeProc proc(server.port(), {101, 102});
  EXPECT_EQ(poll(address(server), looking_at(proc)).replies.size(), 1u);
  EXPECT_EQ(server.connections(), 16);
}

TEST(RasClient, WhereNobodyCanSeeWhoListensItAsksThreeTimes) {
  const ScriptedServer server(play({.json = kJson}));
  RasClientOptions how = options();
  how.connections.reset();
  EXPECT_EQ(poll(address(server), how).replies.size(), 1u);
  EXPECT_EQ(server.connections(), 3);
}

TEST(RasClient, TheReleaseIsReadFromTheProcessesThatListen) {
  const ScriptedServer server(play({.text = text_report("2.27.7", 1)}));
  const FakeProc proc(server.port(), {101, 102});
  proc.folder().write("101/maps", "7f0 r-xp 0 08:01 1 /opt/my lib/libnccl.so.2.29.7\n");
  proc.folder().write("102/maps",
                      "7f0 r-xp 0 08:01 1 /opt/libnccl.so.2\n7f1 r--p 0 08:01 1 /opt/libnccl.so.2\n");
  proc.folder().write(
      "102/root/opt/libnccl.so.2",
      std::string(3'000'000, '\0') + "NCCL version 2.27.7+cuda12.8" + std::string(3'000'000, '\0'));
  const RasReply got = reply(address(server), looking_at(proc));
  EXPECT_TRUE(got.refused) << "the one that permits least decides";
  EXPECT_NE(got.trouble.find("NCCL 2.27.7"), std::string::npos) << got.trouble;
  EXPECT_NE(got.trouble.find("(/opt/libnccl.so.2 of process 102)"), std::string::npos) << got.trouble;
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace unhang::collect
