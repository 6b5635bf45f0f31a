// SPDX-License-Identifier: Apache-2.0
#include "detect/survived_fault.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kThen = 1'700'000'000 * kSecond;

// Rank 0 on node1, GPU b3:00.0; its last operation ended an hour after kThen.
model::Case one_rank() {
  model::Case joined;
  model::Rank& rank = joined.ranks.emplace_back();
  rank.global_rank = 0;
  rank.host = "node1";
  model::Operation op;
  op.completed_ns = kThen + 3600 * kSecond;
  op.flags = model::Operation::kFinished;
  rank.operations.push_back(op);
  joined.hosts = {{"node1", {}, {0}}};
  joined.identities = {{0,
                        {{model::IdentityKey::kHost, "node1", "log", {}},
                         {model::IdentityKey::kGpuBusId, "0000:b3:00.0", "log", {}}}}};
  joined.logs.origins.emplace_back().host = "node1";
  return joined;
}

model::LogEvent xid_at(std::int64_t ns) {
  model::LogEvent event;
  event.kind = model::LogEventKind::kXid;
  event.first = event.last = {model::LogClock::kUtc, ns};
  return event;
}

Explanation on_gpu(const char* gpu, const model::LogEvent& event) {
  Explanation out;
  model::Subject& subject = out.other_culprits.emplace_back();
  subject.kind = model::SubjectKind::kGpu;
  subject.host = "node1";
  subject.gpu = gpu;
  out.events = {&event};
  return out;
}

TEST(SurvivedFault, WhoWentOnForLongOutlivedIt) {
  const model::Case joined = one_rank();
  const RankNames names(joined);
  const HostTimes times(joined);
  const model::LogEvent early = xid_at(kThen);
  const auto words = outlived(joined, names, on_gpu("0000:b3:00", early), times);
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, "rank 0 went on for 60 min after it");
  const model::LogEvent late = xid_at(kThen + 3590 * kSecond);
  EXPECT_FALSE(outlived(joined, names, on_gpu("0000:b3:00", late), times)) << "seconds are no health";
}

TEST(SurvivedFault, ADeviceOfNoRankIsNobodys) {
  const model::Case joined = one_rank();
  const RankNames names(joined);
  const model::LogEvent event = xid_at(kThen);
  EXPECT_TRUE(is_of_no_rank(names, on_gpu("0000:ce:00", event)));
  EXPECT_FALSE(is_of_no_rank(names, on_gpu("0000:b3:00", event)));
  model::Case unknown = one_rank();
  unknown.identities[0].facts.pop_back();
  EXPECT_FALSE(is_of_no_rank(RankNames(unknown), on_gpu("0000:ce:00", event))) << "whose it is, is not known";
}

}  // namespace
}  // namespace unhang::detect
