// SPDX-License-Identifier: Apache-2.0
#include "detect/recurrence.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/time_text.h"

namespace unhang::detect {
namespace {

using model::EarlierVerdict;
using model::Recurrence;
using model::Subject;
using model::Verdict;

constexpr std::size_t kMostKept = 8;
constexpr std::size_t kMostKeys = 4096;  // of one verdict
// Two looks at one incident may differ by this much in when it began.
constexpr std::int64_t kSameTimeNs = 60'000'000'000;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

// "GPU 3" counts inside its machine only; an address of the bus, too; a UUID is the device itself.
std::string gpu_name(const std::string& gpu) {
  return gpu.find_first_not_of("0123456789") == std::string::npos ? "GPU " + gpu : lower(gpu);
}

struct Named {
  std::set<std::string> hardware;     // "gpu-b07", "gpu-b07/mlx5_2", "gpu-a01 and gpu-b07"
  std::set<std::string> of_instance;  // "rank 5", "ranks 3 and 5"
};

std::string host_of(const std::vector<const Subject*>& subjects, std::int32_t rank) {
  for (const Subject* subject : subjects) {
    if (subject->rank == rank && !subject->host.empty()) return subject->host;
  }
  return {};
}

Named named_by(const std::vector<Subject>& culprits, const std::vector<Subject>& suspects) {
  std::vector<const Subject*> subjects;
  for (const auto* list : {&culprits, &suspects}) {
    for (const Subject& subject : *list) subjects.push_back(&subject);
  }
  Named out;
  // Of a crowd of suspects each pair would be looked for in the whole crowd.
  const bool few = subjects.size() <= 64;
  for (const Subject* subject : subjects) {
    if (out.hardware.size() + out.of_instance.size() > kMostKeys) break;
    if (!subject->host.empty()) {
      out.hardware.insert(subject->host);
      if (!subject->nic.empty()) out.hardware.insert(subject->host + "/" + subject->nic);
      if (!subject->gpu.empty()) out.hardware.insert(subject->host + "/" + gpu_name(subject->gpu));
    } else if (lower(subject->gpu).starts_with("gpu-")) {
      out.hardware.insert("GPU" + lower(subject->gpu).substr(3));
    }
    if (!subject->rank) continue;
    out.of_instance.insert("rank " + std::to_string(*subject->rank));
    if (!subject->peer || !few) continue;
    const auto [low, high] = std::minmax(*subject->rank, *subject->peer);
    out.of_instance.insert("ranks " + std::to_string(low) + " and " + std::to_string(high));
    const std::string other = host_of(subjects, *subject->peer);
    if (!other.empty() && !subject->host.empty() && other != subject->host)
      out.hardware.insert(std::min(other, subject->host) + " and " + std::max(other, subject->host));
  }
  return out;
}

// Whom and where: equal for two looks at one incident.
std::string identity_of(const std::vector<Subject>& culprits, const std::vector<Subject>& suspects,
                        const std::string& group, std::int64_t ordinal) {
  std::set<std::string> subjects;
  for (const Subject& s : culprits.empty() ? suspects : culprits) {
    subjects.insert(s.host + '\n' + s.gpu + '\n' + s.nic + '\n' + s.group + '\n' +
                    std::to_string(s.rank.value_or(-1)) + '\n' + std::to_string(s.group_rank.value_or(-1)) +
                    '\n' + std::to_string(s.peer.value_or(-1)));
    if (subjects.size() > kMostKeys) break;
  }
  std::string out = group + '\n' + std::to_string(ordinal);
  for (const std::string& subject : subjects) out += '\t' + subject;
  return out;
}

std::string time_of(const Verdict& verdict) {
  for (const std::string* time :
       {&verdict.times.stalled_since, &verdict.times.first_anomaly, &verdict.times.detected}) {
    if (base::parse_utc(*time)) return *time;
  }
  for (const model::TimelineEvent& event : verdict.timeline) {
    if (base::parse_utc(event.time)) return event.time;
  }
  return {};
}

// Where one of the two states no time they may be the same, and what may be one incident counts as one.
bool same_time(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  return !a || !b || (*a > *b ? *a - *b : *b - *a) <= kSameTimeNs;
}

class History {
 public:
  History(const std::vector<EarlierVerdict>& earlier, const Verdict& verdict) : x_verdict(verdict) {
    for (const EarlierVerdict& one : earlier) x_earlier.push_back({&one, base::parse_utc(one.stalled_since)});
    std::sort(x_earlier.begin(), x_earlier.end(), [](const Dated& a, const Dated& b) {
      return std::tuple(a.time, a.verdict->file) < std::tuple(b.time, b.verdict->file);
    });
  }

  std::vector<Recurrence> recurrences() {
    const Named ours = named_by(x_verdict.culprits, x_verdict.suspects);
    x_seen[identity_of(x_verdict.culprits, x_verdict.suspects, x_verdict.where.group,
                       x_verdict.where.ordinal.value_or(-1))]
        .push_back(base::parse_utc(time_of(x_verdict)));
    const std::set<std::string> instances(x_verdict.blast_radius.instances.begin(),
                                          x_verdict.blast_radius.instances.end());
    for (const Dated& one : x_earlier) {
      if (!is_new(one)) continue;
      const Named theirs = named_by(one.verdict->culprits, one.verdict->suspects);
      count(ours.hardware, theirs.hardware, one);
      if (std::any_of(one.verdict->instances.begin(), one.verdict->instances.end(),
                      [&](const std::string& name) { return instances.count(name) != 0; }))
        count(ours.of_instance, theirs.of_instance, one);
    }
    return sorted();
  }

 private:
  struct Dated {
    const EarlierVerdict* verdict = nullptr;
    std::optional<std::int64_t> time;  // nullopt sorts first: the oldest
  };
  struct Count {
    std::size_t times = 1;  // this one
    std::string last;
    std::map<std::string, std::size_t> causes;
  };

  bool is_new(const Dated& one) {
    const EarlierVerdict& v = *one.verdict;
    auto& times = x_seen[identity_of(v.culprits, v.suspects, v.group, v.ordinal)];
    for (const auto& known : times) {
      if (same_time(known, one.time)) return false;
    }
    times.push_back(one.time);
    return true;
  }

  void count(const std::set<std::string>& ours, const std::set<std::string>& theirs, const Dated& one) {
    for (const std::string& subject : ours) {
      if (theirs.count(subject) == 0) continue;
      Count& found = x_counts[subject];
      ++found.times;
      found.last = one.verdict->file;  // ascending in time
      ++found.causes[one.verdict->cause];
    }
  }

  std::vector<Recurrence> sorted() {
    std::vector<Recurrence> out;
    for (auto& [subject, found] : x_counts) {
      const auto most =
          std::max_element(found.causes.begin(), found.causes.end(), [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second < b.second : a.first > b.first;
          });
      out.push_back({.subject = subject,
                     .times = found.times,
                     .verdicts = x_earlier.size(),
                     .last = found.last,
                     .cause = most->first});
    }
    // The device says more than the machine that it is in.
    const auto rank = [](const Recurrence& r) {
      const bool device = r.subject.find('/') != std::string::npos || r.subject.starts_with("GPU-") ||
                          r.subject.find(" and ") != std::string::npos;
      return std::tuple(-static_cast<std::int64_t>(r.times), !device, r.subject);
    };
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (out.size() > kMostKept) out.resize(kMostKept);
    return out;
  }

  const Verdict& x_verdict;
  std::vector<Dated> x_earlier;  // ascending in time
  std::map<std::string, std::vector<std::optional<std::int64_t>>> x_seen;
  std::map<std::string, Count> x_counts;
};

bool is_hardware(const Recurrence& recurrence) {
  return !recurrence.subject.starts_with("rank");
}

void advise_test(Verdict& verdict) {
  const auto found = std::find_if(verdict.history.begin(), verdict.history.end(), is_hardware);
  if (found == verdict.history.end() || verdict.fault_domain == model::FaultDomain::kApplication ||
      verdict.root == "application_error")
    return;
  auto& list = verdict.recovery.retest;
  if (std::find(list.begin(), list.end(), found->subject) == list.end()) list.push_back(found->subject);
  verdict.recovery.steps.push_back(
      {"test " + found->subject + " before it serves again: it is the " + ordinal_text(found->times) +
           " incident that names it. That is no proof; a failed test is, and then it is to be isolated",
       "", false});
}

}  // namespace

std::string ordinal_text(std::size_t number) {
  const std::size_t last = number % 10;
  const bool teen = number / 10 % 10 == 1;
  return std::to_string(number) + (teen        ? "th"
                                   : last == 1 ? "st"
                                   : last == 2 ? "nd"
                                   : last == 3 ? "rd"
                                               : "th");
}

void compare_with_history(const std::vector<EarlierVerdict>& earlier, Verdict& verdict) {
  verdict.history = History(earlier, verdict).recurrences();
  if (verdict.category != model::Category::kHealthy) advise_test(verdict);
}

}  // namespace unhang::detect
