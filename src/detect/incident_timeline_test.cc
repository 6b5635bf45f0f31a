// SPDX-License-Identifier: Apache-2.0
#include "detect/incident_timeline.h"

#include <string>

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "detect/case_builder_for_tests.h"
#include "detect/log_case_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

using model::LogClock;
using model::LogEventKind;

constexpr std::int64_t kSecond = LogCase::kSecond;

std::int64_t seconds(const std::string& time) {
  const auto ns = base::parse_utc(time);
  return ns ? (*ns - LogCase::kStart) / kSecond : -1;
}

// "20 a: text" and "*" where it came after the fact, joined by "; ".
std::string course(const model::Verdict& v) {
  std::string out;
  for (const model::TimelineEvent& event : v.timeline) {
    if (!out.empty()) out += "; ";
    if (!event.time.empty()) out += std::to_string(seconds(event.time)) + " ";
    if (!event.host.empty()) out += event.host + ": ";
    out += event.event + (event.after_the_fact ? " *" : "");
  }
  return out;
}

CallOptions ended_after(std::int64_t ns) {
  return {.completed_after_ns = ns};
}

LogCase timed_out_job() {
  LogCase c;
  c.file("rank0.log").by_rank(0, "a").at(620).gives_up({.rank = 0, .timeout_ms = 600'000, .ran_ms = 600'000});
  return c;
}

TEST(IncidentTimeline, TheStallBeganWhenTheCallThatTimedOutWasMade) {
  LogCase c = timed_out_job();
  c.file("a.dmesg").by({.host = "a"}).at(15);
  c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00", .text = "GPU has fallen off the bus"});
  c.file("launcher.log").by({.host = "a"}).at(21);
  c.says(LogEventKind::kProcessExit, {.code = 1, .text = "rank 3 left"});
  c.at(640).says(LogEventKind::kProcessSignalled, {.code = 15, .text = "SIGTERM"});
  const model::Verdict v = c.diagnosed();
  EXPECT_EQ(course(v),
            "15 a: GPU has fallen off the bus; "
            "20 a: it stands from here: the first time-out minus the 600 s that it had waited; "
            "21 a: rank 3 left; 620 a: rank 0 gives up on ALLREDUCE #41 *; 640 a: SIGTERM *");
  EXPECT_EQ(seconds(v.times.first_anomaly), 15);
  EXPECT_EQ(seconds(v.times.stalled_since), 20);
  EXPECT_EQ(seconds(v.times.detected), 620);
  EXPECT_EQ(seconds(v.times.ended), 640) << "the last that went";
  EXPECT_EQ(v.times.stalled_basis, "the first time-out minus the 600 s that it had waited");
  EXPECT_EQ(v.cause, "gpu_fallen_off_bus");
}

TEST(IncidentTimeline, AFaultThatCameLaterIsNoCause) {
  LogCase c = timed_out_job();
  c.file("a.dmesg").by({.host = "a"}).at(700);
  c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00", .text = "GPU has fallen off the bus"});
  const model::Verdict v = c.diagnosed();
  EXPECT_NE(v.cause, "gpu_fallen_off_bus");
  EXPECT_NE(course(v).find("700 a: GPU has fallen off the bus *"), std::string::npos) << course(v);
  ASSERT_FALSE(v.findings.empty());
  EXPECT_NE(v.findings[0].text.find("; it came 680 s after the stall had begun: no cause"), std::string::npos)
      << v.findings[0].text;
}

TEST(IncidentTimeline, WithinAnOrdinaryWaitItMayStillBeTheCause) {
  LogCase c = timed_out_job();
  c.file("a.dmesg")
      .by({.host = "a"})
      .at(50);  // 30 s after the host had called: the device may have been behind
  c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00"});
  EXPECT_EQ(c.diagnosed().cause, "gpu_fallen_off_bus");
}

TEST(IncidentTimeline, ClocksThatNobodyComparedProveNoOrder) {
  LogCase c = timed_out_job();
  c.file("b.dmesg").by({.host = "b"}).at(700);
  c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00"});
  EXPECT_EQ(c.diagnosed().cause, "gpu_fallen_off_bus");
}

TEST(IncidentTimeline, AClockThatIsKnownIsTakenOff) {
  LogCase c = timed_out_job();
  c.file("b.dmesg").by({.host = "b"}).at(700);
  c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00", .text = "Xid 79"});
  model::Case joined = c.joined();
  joined.clocks = {
      {.host = "a", .offset_ns = 0, .spread_ns = 0, .samples = 8, .known = true, .basis = "the reference"},
      {.host = "b",
       .offset_ns = 690 * kSecond,
       .spread_ns = kSecond,
       .samples = 8,
       .known = true,
       .basis = "8"}};
  const model::Verdict v = diagnose(joined);
  EXPECT_EQ(v.cause, "gpu_fallen_off_bus");
  EXPECT_EQ(course(v).substr(0, 13), "10 b: Xid 79;") << course(v);
  EXPECT_EQ(v.timeline[0].clock, "log, 690000 ms taken off");
  ASSERT_EQ(v.clocks.size(), 2u);
  EXPECT_EQ(v.clocks[1].spread_ns, kSecond);
}

TEST(IncidentTimeline, DumpsTellTheLastThingThatEnded) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.host(0, "a").host(1, "a");
  for (int i = 0; i < 6; ++i) c.done(world, "all_reduce", ended_after(2'000'000)).end_line(kSecond);
  c.open(world, "all_reduce", {0});
  const model::Verdict v = diagnose(c.joined());
  EXPECT_EQ(v.times.stalled_basis, "rank 0 called all_reduce #7 of default_pg (0), which does not end");
  EXPECT_EQ(v.times.stalled_since,
            base::utc_text(CaseBuilder::kStart + 12 * CaseBuilder::kMillisecond + 6 * kSecond));
  // The host ran ahead: the operation before ended a second after the call.
  CaseBuilder ahead(2);
  const auto group = ahead.group("0", "default_pg", {0, 1});
  ahead.host(0, "a").host(1, "a");
  ahead.done(group, "all_reduce", ended_after(kSecond));
  ahead.open(group, "all_reduce", {0});
  const model::Verdict late = diagnose(ahead.joined());
  EXPECT_EQ(late.times.stalled_basis, "the last operation that ended in default_pg (0)");
  EXPECT_EQ(late.times.stalled_since, base::utc_text(CaseBuilder::kStart + kSecond));
}

TEST(IncidentTimeline, ItIsBoundedAndSaysHowMuchIsLeftOut) {
  LogCase c = timed_out_job();
  c.file("a.dmesg").by({.host = "a"});
  for (int i = 0; i < 60; ++i)
    c.at(i).says(LogEventKind::kPcieError, {.subject = "0000:" + std::to_string(i), .text = "AER"});
  c.file("b.log").by_rank(1, "a");
  for (int i = 0; i < 500; ++i) c.at(630 + i).says(LogEventKind::kProxyError, {.text = "proxy"});
  const model::Verdict v = c.diagnosed();
  ASSERT_EQ(v.timeline.size(), kTimelineRows + 1);
  EXPECT_EQ(v.timeline.back().event, "23 more that tell less are left out");
  EXPECT_EQ(v.timeline.back().time, "");
  EXPECT_NE(course(v).find("620 a: rank 0 gives up"), std::string::npos);
}

TEST(IncidentTimeline, LinesWithoutADateAreCounted) {
  LogCase c = timed_out_job();
  c.file("a.dmesg").by({.host = "a"}).at(1, LogClock::kUptime).says(LogEventKind::kXid, {.code = 79});
  const model::Verdict v = c.diagnosed();
  EXPECT_EQ(v.timeline.back().event, "1 line has no date: where it stands in the order is not known");
}

TEST(IncidentTimeline, AJobThatGoesOnHasNoStall) {
  LogCase c;
  c.by_rank(0, "a").at(5).says(LogEventKind::kTrainingStep, {.code = 3});
  const model::Verdict v = c.diagnosed();
  EXPECT_EQ(v.times.stalled_since + v.times.detected + v.times.first_anomaly, "");
}

}  // namespace
}  // namespace unhang::detect
