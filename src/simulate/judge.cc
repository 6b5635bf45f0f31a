// SPDX-License-Identifier: Apache-2.0
#include "simulate/judge.h"

#include <algorithm>
#include <array>
#include <set>

#include "simulate/placement.h"

namespace unhang::simulate {
namespace {

using model::Subject;

template <class List, class Item>
bool holds(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

class NamingJudge {
 public:
  explicit NamingJudge(const Truth& truth) : x_truth(truth), x_place(truth.plan) {}

  Naming judge(const std::vector<Subject>& named) {
    for (const Subject& subject : named) {
      if (!guilty(subject)) return Naming::kInnocent;
    }
    if (x_truth.host_suffices) {
      std::set<std::int32_t> hosts = x_hosts;
      for (const std::int32_t rank : x_ranks) hosts.insert(x_place.host_of(rank));
      if (hosts.empty()) return Naming::kNobody;
      return hosts.size() == x_truth.culprit_hosts.size() ? Naming::kExact : Naming::kPart;
    }
    const bool nobody = x_ranks.empty() && x_hosts.empty();
    if (x_truth.culprits.empty()) return nobody ? Naming::kExact : Naming::kInnocent;
    // Where the evidence cannot tell who of several is wrong, nobody need be named.
    if (!x_truth.culprits_exact) return Naming::kExact;
    if (nobody) return Naming::kNobody;
    return x_ranks.size() == x_truth.culprits.size() ? Naming::kExact : Naming::kPart;
  }

 private:
  bool guilty_rank(std::int32_t rank) {
    if (!holds(x_truth.culprits, rank)) return false;
    x_ranks.insert(rank);
    return true;
  }

  // The rank that a host's process or device is; -1: none is.
  std::int32_t rank_of(const Subject& subject, std::int32_t host) const {
    for (const std::int32_t rank : x_place.ranks_on(host)) {
      if (subject.pid && *subject.pid != x_place.pid(rank)) continue;
      if (!subject.gpu.empty() && subject.gpu.find(x_place.bus_id(rank).substr(5)) == std::string::npos)
        continue;
      return rank;
    }
    return -1;
  }

  bool guilty(const Subject& subject) {
    if (subject.rank) {
      if (subject.peer && !guilty_rank(*subject.peer)) return false;
      return guilty_rank(*subject.rank);
    }
    std::int32_t host = -1;
    for (std::int32_t each = 0; each < x_place.hosts(); ++each) {
      if (subject.host == x_place.host_name(each) || subject.host == x_place.address(each)) host = each;
    }
    if (host < 0) {
      // A rank of a group: the world's are those of the job.
      if (subject.group_rank && subject.group == "0") return guilty_rank(*subject.group_rank);
      // Without a host a process or device may be anybody's: it is right if it is a culprit's.
      for (const std::int32_t rank : x_truth.culprits) {
        if (rank_of(subject, x_place.host_of(rank)) == rank) return guilty_rank(rank);
      }
      return false;
    }
    if (!holds(x_truth.culprit_hosts, host)) return false;
    if (subject.pid || !subject.gpu.empty()) return guilty_rank(rank_of(subject, host));
    x_hosts.insert(host);
    return true;
  }

  const Truth& x_truth;
  Placement x_place;
  std::set<std::int32_t> x_ranks;
  std::set<std::int32_t> x_hosts;
};

bool fits(const Acceptable& acceptable, const model::Verdict& verdict) {
  return acceptable.category == model::name_of(verdict.category) &&
         (acceptable.causes.empty() || holds(acceptable.causes, verdict.cause));
}

}  // namespace

std::string_view name_of(Answer value) {
  constexpr std::array<std::string_view, kAnswers> kNames = {"right", "acceptable", "honest", "wrong",
                                                             "confidently wrong"};
  return kNames[static_cast<std::size_t>(value)];
}

Judgement judge(const Truth& truth, const model::Verdict& verdict) {
  Judgement out;
  out.naming = NamingJudge(truth).judge(verdict.culprits);
  const bool confident = verdict.confidence != model::Confidence::kLow;
  const Answer wrong = confident ? Answer::kConfidentlyWrong : Answer::kWrong;
  if (out.naming == Naming::kInnocent) {
    out.confident_innocent = confident;
    out.answer = wrong;
    return out;
  }
  const auto fitting = std::find_if(truth.acceptable.begin(), truth.acceptable.end(),
                                    [&](const Acceptable& each) { return fits(each, verdict); });
  if (fitting != truth.acceptable.end()) {
    out.answer = fitting == truth.acceptable.begin() ? Answer::kRight : Answer::kAcceptable;
  } else if (verdict.category == model::Category::kInconclusive) {
    out.answer = Answer::kHonest;
  } else if (confident || (verdict.category == model::Category::kHealthy && truth.complete)) {
    out.answer = wrong;
  } else {
    out.answer = Answer::kHonest;
  }
  return out;
}

}  // namespace unhang::simulate
