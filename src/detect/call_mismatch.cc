// SPDX-License-Identifier: Apache-2.0
//
// Members of a group that call different things at the same place. The majority of the members is the
// reference. Where the rest of a rank's calls fits the others' one place further on, it skipped a call; one
// place back, it made one more.
#include <algorithm>
#include <map>

#include "detect/call_keys.h"
#include "detect/detector.h"
#include "detect/rows.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::GroupIndex;
using model::Operation;
using model::RankIndex;

enum class Shift : std::uint8_t { kNone, kSkipped, kExtra };

class GroupMismatch {
 public:
  GroupMismatch(const Analysis& analysis, CallKeys& keys, GroupIndex group)
      : x_analysis(analysis), x_case(analysis.joined), x_keys(keys), x_group(group) {}

  void find(std::vector<Explanation>& out) {
    const auto differing = differing_rows(x_case, x_keys, x_group);
    const auto open =
        std::find_if(differing.begin(), differing.end(), [&](std::int64_t row) { return is_open(row); });
    if (open != differing.end()) explain_open(*open, out);
    if (open != differing.begin())
      explain_completed(differing.front(), static_cast<std::size_t>(open - differing.begin()), out);
  }

 private:
  // Somebody still stands in it. That others have finished does not matter: of calls that don't fit, some
  // end.
  bool is_open(std::int64_t sequence) {
    if (sequence <= least_completed()) return false;
    const auto row = row_of(x_case, x_keys, x_group, sequence);
    return std::any_of(row.begin(), row.end(),
                       [&](const Cell& cell) { return !operation(cell).has(Operation::kFinished); });
  }

  std::int64_t least_completed() const {
    std::int64_t least = x_analysis.groups[x_group].completed;
    for (const MemberProgress& member : x_analysis.groups[x_group].members) {
      if (member.lane != nullptr) least = std::min(least, member.completed.value_or(-1));
    }
    return least;
  }

  const Operation& operation(const Cell& cell) const {
    return x_case.ranks[cell.rank].operations[cell.operation];
  }

  // Keys of a rank's calls from `sequence` on.
  std::vector<std::uint32_t> tail(RankIndex index, std::int64_t sequence) {
    std::vector<std::uint32_t> out;
    const model::Rank& rank = x_case.ranks[index];
    for (const std::uint32_t op : rank.lane(x_group)->collectives) {
      if (rank.operations[op].collective_sequence >= sequence) out.push_back(x_keys.key(rank, op));
    }
    return out;
  }

  static std::size_t matches(const std::vector<std::uint32_t>& a, std::size_t a_from,
                             const std::vector<std::uint32_t>& b, std::size_t b_from, bool& all) {
    const std::size_t overlap =
        std::min(a.size() - std::min(a.size(), a_from), b.size() - std::min(b.size(), b_from));
    std::size_t same = 0;
    for (std::size_t i = 0; i < overlap; ++i) same += a[a_from + i] == b[b_from + i] ? 1 : 0;
    all = same == overlap && overlap > 0;
    return same;
  }

  // A shift must explain every call that follows, and either be one call short (or long), or fit two calls or
  // more.
  Shift shift_of(const std::vector<std::uint32_t>& mine, const std::vector<std::uint32_t>& reference) {
    bool all_skipped = false;
    bool all_extra = false;
    const std::size_t skipped = matches(mine, 0, reference, 1, all_skipped);
    const std::size_t extra = matches(mine, 1, reference, 0, all_extra);
    bool in_place = false;
    if (matches(mine, 1, reference, 1, in_place) > 0 && in_place) return Shift::kNone;
    if (all_skipped && skipped >= extra && (mine.size() + 1 == reference.size() || skipped >= 2))
      return Shift::kSkipped;
    if (all_extra && (mine.size() == reference.size() + 1 || extra >= 2)) return Shift::kExtra;
    return Shift::kNone;
  }

  void explain_open(std::int64_t sequence, std::vector<Explanation>& out) {
    const auto row = row_of(x_case, x_keys, x_group, sequence);
    const Majority majority = majority_of(row);
    std::vector<Cell> agree;
    std::vector<Cell> differ;
    for (const Cell& cell : row) (cell.key == majority.key ? agree : differ).push_back(cell);
    Explanation explanation;
    explanation.category = Category::kCollectiveDesync;
    explanation.at = OperationRef{agree.front().rank, agree.front().operation};
    explanation.evidence.push_back(*explanation.at);
    for (std::size_t i = 0; i < differ.size() && i < 4; ++i)
      explanation.evidence.push_back({differ[i].rank, differ[i].operation});
    if (majority.tied) {
      explain_tie(agree, differ, explanation);
    } else {
      explain_minority(sequence, agree, differ, explanation);
    }
    explanation.rules_out.push_back(
        "transport: every rank named here reached the operation; what they called does not fit");
    out.push_back(std::move(explanation));
  }

  std::string_view cause_of(std::uint32_t key, std::uint32_t reference) const {
    switch (x_keys.relate(key, reference)) {
      case Relation::kOpMismatch:
        return "op_mismatch";
      case Relation::kDtypeMismatch:
        return "dtype_mismatch";
      default:
        return "size_mismatch";
    }
  }

  std::vector<RankIndex> ranks_of(const std::vector<Cell>& cells) const {
    std::vector<RankIndex> out;
    for (const Cell& cell : cells) out.push_back(cell.rank);
    return out;
  }

  void explain_tie(const std::vector<Cell>& one, const std::vector<Cell>& other, Explanation& explanation) {
    explanation.cause = cause_of(other.front().key, one.front().key);
    std::vector<Cell> all = one;
    all.insert(all.end(), other.begin(), other.end());
    // Of two that are all there is, both are named; where others belong to the group whose dumps are missing,
    // one of the two is right.
    const bool pair = all.size() == 2 && x_case.groups[x_group].members.size() == 2;
    explanation.strength = pair ? Confidence::kMedium : Confidence::kLow;
    (pair ? explanation.culprits : explanation.suspects) = ranks_of(all);
    explanation.headline =
        ranks_text(x_case, ranks_of(one)) + " called " + call_with_size(x_case, operation(one.front())) +
        " where " + ranks_text(x_case, ranks_of(other)) + " called " +
        call_with_size(x_case, operation(other.front())) + ": a tie, either side can be the wrong one";
    explanation.why.push_back("the calls differ and no majority decides which is wrong");
    explanation.alternatives.push_back(
        {.category = Category::kCollectiveDesync,
         .cause = explanation.cause,
         .speaks_for = {"both sides are equally many"},
         .speaks_against = {},
         .decide_by = "compare the user code of both sides (-v shows the lines)"});
  }

  std::size_t longest_tail(const std::vector<Cell>& cells, std::int64_t sequence) {
    std::size_t longest = 0;
    for (const Cell& cell : cells) longest = std::max(longest, tail(cell.rank, sequence).size());
    return longest;
  }

  // The others stand in their first or second call of `reference`: what they would have called next is what
  // they called the last time after the same.
  void foresee(RankIndex index, std::int64_t sequence, std::size_t wanted,
               std::vector<std::uint32_t>& reference) {
    if (reference.empty()) return;
    std::vector<std::uint32_t> before;
    const model::Rank& rank = x_case.ranks[index];
    for (const std::uint32_t op : rank.lane(x_group)->collectives) {
      if (rank.operations[op].collective_sequence < sequence) before.push_back(x_keys.key(rank, op));
    }
    const auto last = std::find_end(before.begin(), before.end(), reference.begin(), reference.end());
    if (last == before.end()) return;
    auto next = last + static_cast<std::ptrdiff_t>(reference.size());
    while (reference.size() < wanted && next != before.end()) reference.push_back(*next++);
  }

  void explain_minority(std::int64_t sequence, const std::vector<Cell>& agree,
                        const std::vector<Cell>& differ, Explanation& explanation) {
    std::vector<std::uint32_t> reference;
    for (const Cell& cell : agree) {
      auto theirs = tail(cell.rank, sequence);
      if (theirs.size() > reference.size()) reference = std::move(theirs);
    }
    foresee(agree.front().rank, sequence, longest_tail(differ, sequence) + 1, reference);
    std::map<Shift, std::vector<Cell>> by_shift;
    for (const Cell& cell : differ) by_shift[shift_of(tail(cell.rank, sequence), reference)].push_back(cell);
    const auto& [shift, cells] =
        *std::max_element(by_shift.begin(), by_shift.end(),
                          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    explanation.culprits = ranks_of(differ);
    explanation.strength = Confidence::kHigh;
    const std::string who = ranks_text(x_case, explanation.culprits);
    const std::string others = ranks_text(x_case, ranks_of(agree));
    const Operation& theirs = operation(agree.front());
    const Operation& mine = operation(cells.front());
    if (shift == Shift::kSkipped) {
      explanation.cause = "skipped_collective";
      explanation.headline = who + " skipped " + operation_text(x_case, theirs) +
                             ": its later calls fit those of " + others + " one place further on";
      explanation.why.push_back("calls " + call_with_size(x_case, mine) + " where the others call " +
                                call_with_size(x_case, theirs) + "; everything after fits shifted by one");
    } else if (shift == Shift::kExtra) {
      explanation.cause = "extra_collective";
      explanation.headline = who + " called " + call_with_size(x_case, mine) + " once more than " + others +
                             " at " + operation_text(x_case, theirs);
      explanation.why.push_back("one call more than the others; everything after fits shifted by one");
    } else {
      explanation.cause = cause_of(cells.front().key, agree.front().key);
      explanation.headline = who + " called " + call_with_size(x_case, mine) + " where " + others +
                             " called " + call_with_size(x_case, theirs) + " (" +
                             operation_text(x_case, theirs) + ")";
      explanation.why.push_back("called " + call_with_size(x_case, mine) + "; the majority called " +
                                call_with_size(x_case, theirs));
    }
    if (agree.size() < 2 || agree.size() <= differ.size()) explanation.strength = Confidence::kMedium;
  }

  // NCCL can finish a mismatching call with wrong data. Nobody hangs in it, but the person should know.
  void explain_completed(std::int64_t sequence, std::size_t rows, std::vector<Explanation>& out) {
    const auto row = row_of(x_case, x_keys, x_group, sequence);
    const Majority majority = majority_of(row);
    const auto differs =
        std::find_if(row.begin(), row.end(), [&](const Cell& cell) { return cell.key != majority.key; });
    const auto agrees =
        std::find_if(row.begin(), row.end(), [&](const Cell& cell) { return cell.key == majority.key; });
    if (differs == row.end() || agrees == row.end()) return;
    Explanation explanation;
    explanation.category = Category::kCollectiveDesync;
    explanation.cause = cause_of(differs->key, majority.key);
    explanation.explains_stall = false;
    explanation.headline = std::to_string(rows) + plural(rows, " completed row of ", " completed rows of ") +
                           x_case.group_label(x_group) + plural(rows, " does", " do") + " not fit, first " +
                           operation_text(x_case, operation(*agrees)) + ": rank " +
                           std::to_string(x_case.ranks[differs->rank].global_rank) + " called " +
                           call_with_size(x_case, operation(*differs)) + ", others " +
                           call_with_size(x_case, operation(*agrees));
    explanation.evidence = {{agrees->rank, agrees->operation}, {differs->rank, differs->operation}};
    out.push_back(std::move(explanation));
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  CallKeys& x_keys;
  GroupIndex x_group;
};

}  // namespace

std::vector<Explanation> find_call_mismatch(const Analysis& analysis) {
  std::vector<Explanation> out;
  CallKeys keys(analysis.joined);
  for (GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    GroupMismatch(analysis, keys, group).find(out);
  }
  return out;
}

}  // namespace unhang::detect
