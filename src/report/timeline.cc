// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/time_text.h"
#include "report/call_words.h"
#include "report/text_layout.h"
#include "report/timeline_slices.h"

namespace unhang::report {
namespace {

using model::Operation;

// Where a call stands in its chain of arrows.
struct ArrowEnd {
  std::uint32_t operation = 0;
  std::uint32_t chain = 0;
  char phase = 't';  // s: the first to arrive, t: on the way, f: the last
};

class TimelineWriter {
 public:
  TimelineWriter(const TimelineInput& input, const ByteSink& sink)
      : x_in(input), x_case(input.joined), x_out(sink), x_span(trace_span(input.joined)) {}

  TimelineCounts write() {
    x_counts.without_time = x_span.without_time;
    for (const model::Subject& culprit : x_in.verdict.culprits) {
      if (culprit.rank) x_culprits.insert(*culprit.rank);
    }
    number_hosts();
    sort_arrows();
    x_out.raw("{\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [");
    for (const auto& [host, pid] : x_pids) {
      metadata("process_name", pid, 0, host.empty() ? "host unknown" : "host " + one_line(host));
      sort_index("process_sort_index", pid, 0, pid - x_first_pid);
    }
    for (model::RankIndex rank = 0; rank < x_case.ranks.size(); ++rank) add_rank(rank);
    x_out.raw("\n],\n\"otherData\": {");
    add_notes();
    x_out.raw("}\n}\n");
    x_out.flush();
    return x_counts;
  }

 private:
  // Thread ids are global ranks; further lanes of a rank lie a round number above. Process ids lie above all
  // of them, since a viewer takes a thread with the id of its process for its main thread.
  void number_hosts() {
    std::int64_t highest = 0;
    for (const model::Rank& rank : x_case.ranks) {
      highest = std::max<std::int64_t>(highest, rank.global_rank);
      x_pids.emplace(rank.host, 0);
    }
    while (x_stride <= highest) x_stride *= 10;
    x_first_pid = x_stride * kMostLanes;
    std::int64_t next = x_first_pid;
    for (auto& [host, pid] : x_pids) pid = next++;
  }

  void sort_arrows() {
    x_arrows.resize(x_case.ranks.size());
    for (std::uint32_t chain = 0; chain < x_in.arrows.rows.size(); ++chain) {
      const model::JoinedCalls& calls = x_in.arrows.rows[chain];
      x_counts.arrows += calls.size() - 1;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const char phase = i == 0 ? 's' : i + 1 == calls.size() ? 'f' : 't';
        x_arrows[calls[i].rank].push_back({calls[i].operation, chain, phase});
      }
    }
    for (auto& ends : x_arrows) {
      std::stable_sort(ends.begin(), ends.end(),
                       [](const ArrowEnd& a, const ArrowEnd& b) { return a.operation < b.operation; });
    }
  }

  void add_rank(model::RankIndex index) {
    const model::Rank& rank = x_case.ranks[index];
    const std::vector<Slice> slices = slices_of(rank, x_span);
    const bool is_culprit = x_culprits.contains(rank.global_rank);
    std::uint32_t lanes = 1;
    for (const Slice& slice : slices) lanes = std::max(lanes, slice.lane + 1);
    const std::string name = "rank " + std::to_string(rank.global_rank);
    const std::int64_t pid = x_pids.at(rank.host);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      std::string text = name;
      if (lane > 0) text.append(", also at that time (").append(std::to_string(lane)).append(")");
      if (is_culprit) text += " (culprit)";
      if (!rank.input) text += " (no dump)";
      metadata("thread_name", pid, tid(rank, lane), text);
      sort_index("thread_sort_index", pid, tid(rank, lane),
                 std::int64_t{rank.global_rank} * kMostLanes + lane);
    }
    ++x_counts.ranks;
    for (const Slice& slice : slices) add_slice(index, slice);
    if (is_culprit) add_mark(index, slices);
  }

  std::int64_t tid(const model::Rank& rank, std::uint32_t lane) const {
    return rank.global_rank + lane * x_stride;
  }

  JsonStream& begin(std::string_view phase) {
    x_out.raw(x_any ? ",\n{\"ph\": \"" : "\n{\"ph\": \"").raw(phase).raw("\"");
    x_any = true;
    return x_out;
  }

  void place(std::int64_t pid, std::int64_t thread) {
    x_out.raw(", \"pid\": ").number(pid).raw(", \"tid\": ").number(thread);
  }

  void metadata(std::string_view what, std::int64_t pid, std::int64_t thread, std::string_view name) {
    begin("M").raw(", \"name\": \"").raw(what).raw("\"");
    place(pid, thread);
    x_out.raw(", \"args\": {\"name\": ").text(name).raw("}}");
  }

  void sort_index(std::string_view what, std::int64_t pid, std::int64_t thread, std::int64_t index) {
    begin("M").raw(", \"name\": \"").raw(what).raw("\"");
    place(pid, thread);
    x_out.raw(", \"args\": {\"sort_index\": ").number(index).raw("}}");
  }

  // Microseconds with three digits: no rounding.
  void time(std::string_view key, TraceTime ns) {
    const TraceTime rest = ns % 1000;
    const char digits[4] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
    x_out.raw(", \"").raw(key).raw("\": ").number(static_cast<std::int64_t>(ns / 1000));
    x_out.raw({digits, 4});
  }

  void add_slice(model::RankIndex index, const Slice& slice) {
    const model::Rank& rank = x_case.ranks[index];
    const Operation& op = rank.operations[slice.operation];
    const std::int64_t pid = x_pids.at(rank.host);
    const std::int64_t thread = tid(rank, slice.lane);
    const CallTexts& call = texts_of(op);
    ++x_counts.slices;
    begin("X").raw(", \"name\": ").raw(slice.unfinished ? call.unfinished_name : call.name);
    x_out.raw(op.has(Operation::kP2p) ? ", \"cat\": \"p2p\"" : ", \"cat\": \"collective\"");
    place(pid, thread);
    time("ts", slice.start);
    time("dur", slice.end - slice.start);
    x_out.raw(", \"args\": {\"group\": ").raw(label(op.group));
    const bool is_p2p = op.has(Operation::kP2p);
    const std::int64_t ordinal = is_p2p ? op.p2p_sequence : op.collective_sequence;
    if (ordinal >= 0) x_out.raw(", \"ordinal\": ").number(ordinal);
    const auto step = is_p2p || ordinal < 0 ? std::nullopt : x_in.step(op.group, ordinal);
    if (step) x_out.raw(", \"step\": ").number(*step);
    x_out.raw(call.args);
    x_out.raw(", \"state\": ").raw(state_text(op, slice));
    if (op.record_id >= 0) x_out.raw(", \"record\": ").number(op.record_id);
    if (slice.shortened) x_out.raw(", \"shortened\": true");
    x_out.raw("}}");
    // A block begins before its closing entry was called, which is what the others are compared with.
    add_arrows(index, slice, slice.shortened ? slice.start : std::max(slice.start, x_span.at(op.created_ns)),
               {pid, thread});
  }

  static std::string_view state_text(const Operation& op, const Slice& slice) {
    if (!slice.unfinished) return "\"finished\"";
    return op.state == model::OpState::kStarted ? "\"started, never finished\""
                                                : "\"called, never finished\"";
  }

  // Right behind its slice, so that a viewer binds the end of the arrow to it.
  void add_arrows(model::RankIndex index, const Slice& slice, TraceTime when,
                  std::pair<std::int64_t, std::int64_t> thread) {
    const auto& ends = x_arrows[index];
    auto at = std::lower_bound(
        ends.begin(), ends.end(), slice.operation,
        [](const ArrowEnd& end, std::uint32_t operation) { return end.operation < operation; });
    for (; at != ends.end() && at->operation == slice.operation; ++at) {
      begin({&at->phase, 1}).raw(", \"name\": \"joins\", \"cat\": \"joins\", \"id\": ").number(at->chain + 1);
      place(thread.first, thread.second);
      time("ts", when);
      x_out.raw(at->phase == 's' ? "}" : ", \"bp\": \"e\"}");
    }
  }

  // On the thread of a culprit: when it made the call that the verdict points at; where it never did, when
  // the first of the others made it.
  void add_mark(model::RankIndex index, const std::vector<Slice>& slices) {
    const model::Rank& rank = x_case.ranks[index];
    begin("i").raw(", \"s\": \"t\", \"cat\": \"verdict\", \"name\": ").text(one_line(x_in.verdict.headline));
    place(x_pids.at(rank.host), tid(rank, 0));
    time("ts", mark_time(index, slices));
    x_out.raw(", \"args\": {\"cause\": ").text(x_in.verdict.cause).raw("}}");
  }

  TraceTime mark_time(model::RankIndex index, const std::vector<Slice>& slices) {
    const auto called = [&](const model::Rank& rank) -> std::optional<TraceTime> {
      for (const Operation& op : rank.operations) {
        if (op.created_ns == 0 || op.has(Operation::kP2p) || !is_place(op)) continue;
        return x_span.at(op.created_ns);
      }
      return std::nullopt;
    };
    if (!x_in.verdict.where.ordinal) return slices.empty() ? x_span.last : slices.back().start;
    if (const auto own = called(x_case.ranks[index])) return *own;
    if (!x_others_called) {
      x_others_called = x_span.last;
      for (const model::Rank& rank : x_case.ranks) {
        if (const auto other = called(rank)) x_others_called = std::min(*x_others_called, *other);
      }
    }
    return *x_others_called;
  }

  bool is_place(const Operation& op) const {
    return op.collective_sequence == *x_in.verdict.where.ordinal &&
           x_case.group_label(op.group) == x_in.verdict.where.group;
  }

  struct CallTexts {
    std::string name, unfinished_name, args;
  };

  const CallTexts& texts_of(const Operation& op) {
    if (op.signature >= x_calls.size()) x_calls.resize(x_case.vocabulary.signature_count());
    CallTexts& out = x_calls[op.signature];
    if (!out.name.empty()) return out;
    std::string name = call_name(x_case, op);
    const model::Signature& signature = x_case.signature(op);
    if (signature.self >= 0 && signature.peer >= 0) {
      name += ' ' + std::to_string(signature.self) + (signature.kind == model::OpKind::kSend ? "->" : "<-") +
              std::to_string(signature.peer);
    }
    out.name = json_text(name);
    out.unfinished_name = json_text(name + " (never finished)");
    const auto& shapes = x_case.vocabulary.shapes;
    if (signature.input_shapes != 0) {
      out.args += ", \"input sizes\": " + json_text(cut(shapes_of(shapes, signature.input_shapes), kWidest));
    }
    if (signature.output_shapes != 0) {
      out.args +=
          ", \"output sizes\": " + json_text(cut(shapes_of(shapes, signature.output_shapes), kWidest));
    }
    const std::string dtype = call_dtype(x_case, op);
    if (!dtype.empty()) out.args += ", \"dtype\": " + json_text(cut(dtype, kWidest));
    return out;
  }

  static std::string shapes_of(const model::ShapeTable& shapes, model::ShapesId id) {
    return model::shapes_text(shapes.encoded(id));
  }

  const std::string& label(model::GroupIndex group) {
    if (x_labels.empty()) x_labels.resize(x_case.groups.size());
    std::string& out = x_labels[group];
    if (out.empty()) out = json_text(one_line(x_case.group_label(group)));
    return out;
  }

  void add_notes() {
    x_out.raw("\n  \"tool\": \"unhang\",\n  \"version\": ").text(UNHANG_VERSION);
    x_out.raw(",\n  \"verdict\": ").text(one_line(x_in.verdict.headline));
    x_out.raw(",\n  \"begin\": ").text(base::utc_text(x_span.origin_ns));
    x_out.raw(",\n  \"clocks\": \"each host's own; times of different hosts are not aligned\"");
    x_out.raw(
        ",\n  \"slices\": \"from the call to when its end was noticed; a dot where no end was recorded\"");
    x_out.raw(",\n  \"unfinished operations\": \"drawn to the end of the trace, ");
    x_out.number(static_cast<std::int64_t>((x_span.end - x_span.last) / 1000));
    x_out.raw(" us after the last recorded time\"");
    x_out.raw(",\n  \"arrows\": ");
    x_out.text(x_in.arrows.complete ? "join the ranks of each collective, and the ends of each transfer"
                                    : "only around what is wrong or unfinished: the trace has too many");
    x_out.raw(",\n  \"operations without a time, left out\": ");
    x_out.number(static_cast<std::int64_t>(x_counts.without_time)).raw("\n");
  }

  static constexpr int kWidest = 200;

  const TimelineInput& x_in;
  const model::Case& x_case;
  JsonStream x_out;
  TraceSpan x_span;
  TimelineCounts x_counts;
  std::set<std::int32_t> x_culprits;
  std::map<std::string, std::int64_t> x_pids;  // by host
  std::int64_t x_stride = 10;
  std::int64_t x_first_pid = 0;
  std::vector<std::vector<ArrowEnd>> x_arrows;  // by rank, ascending operation
  std::vector<CallTexts> x_calls;               // by signature
  std::vector<std::string> x_labels;            // by group
  std::optional<TraceTime> x_others_called;
  bool x_any = false;
};

}  // namespace

TimelineCounts write_timeline(const TimelineInput& input, const ByteSink& sink) {
  return TimelineWriter(input, sink).write();
}

}  // namespace unhang::report
