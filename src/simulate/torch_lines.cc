// SPDX-License-Identifier: Apache-2.0
#include "simulate/torch_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "simulate/random.h"
#include "simulate/uneven_rows.h"

namespace unhang::simulate {
namespace {

using model::OpKind;

constexpr std::int64_t kMillisecond = 1000000;
constexpr std::size_t kStepsTold = 6;  // of the last: enough to see the pace

constexpr std::string_view kAdvice =
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the "
    "order of collectives is not same for all ranks or the scheduled collective, for some reason, didn't "
    "run. "
    "Additionally, this can be caused by GIL deadlock or other reasons such as network errors or bugs in the "
    "communications library (e.g. NCCL), etc. ";

std::string_view op_type(const CallSpec& call) {
  switch (call.kind) {
    case OpKind::kAllGather:
      return "_ALLGATHER_BASE";
    case OpKind::kReduceScatter:
      return "_REDUCE_SCATTER_BASE";
    case OpKind::kBroadcast:
      return "BROADCAST";
    case OpKind::kAllToAll:
      return "ALLTOALL_BASE";
    case OpKind::kSend:
      return "SEND";
    case OpKind::kRecv:
      return "RECV";
    case OpKind::kCoalesced:
      return call.closes.empty() ? "COALESCED" : "ALLGATHER";
    default:
      return "ALLREDUCE";  // a barrier is one, too
  }
}

std::uint64_t elements(const Shapes& shapes) {
  if (shapes.empty()) return ~std::uint64_t{0};  // a block has no tensors: PyTorch prints -1 without its sign
  std::uint64_t product = 1;
  for (const std::int64_t extent : shapes.front()) product *= static_cast<std::uint64_t>(extent);
  return product;
}

class ProcessLines {
 public:
  ProcessLines(const Course& course, std::int32_t rank)
      : x_course(course),
        x_job(course.job()),
        x_rank(rank),
        x_offset(course.placement().clock_offset(course.placement().host_of(rank))) {}

  LogLines write() {
    if (x_course.has(Happening::Kind::kNeverStarts, x_rank)) return {};
    if (x_rank == 0) steps();
    for (const Happening& what : x_course.truth().happenings) {
      if (what.rank != x_rank) continue;
      if (what.kind == Happening::Kind::kException) exception();
      if (what.kind == Happening::Kind::kDataLoader) waits_for_data();
    }
    if (x_course.has(Happening::Kind::kRetryExceeded, x_rank)) remote_error();
    if (x_course.has(Happening::Kind::kNeverStarts, 0) && x_rank != 0) no_unique_id();
    watchdog();
    std::stable_sort(x_lines.begin(), x_lines.end(),
                     [](const LogLine& a, const LogLine& b) { return a.at < b.at; });
    return std::move(x_lines);
  }

 private:
  void program_line(std::int64_t at, std::string_view level, const std::string& text) {
    const std::string utc = base::utc_text(at + x_offset);
    x_lines.push_back({at, fmt::format("{} {},{} [{}] {}", utc.substr(0, 10), utc.substr(11, 8),
                                       utc.substr(20, 3), level, text)});
  }

  void steps() {
    const Program& program = x_job.program(x_rank);
    const std::size_t steps = x_job.steps();
    for (std::size_t step = steps > kStepsTold ? steps - kStepsTold : 0; step < steps; ++step) {
      const std::size_t last = program.step_begin(step + 1) - 1;
      if (last >= x_job.called(x_rank) || x_job.times(x_rank, last).finished == 0) return;
      program_line(x_job.times(x_rank, last).finished + kMillisecond, "INFO",
                   fmt::format("step {} loss {:.4f}", step + 1, 2.0 + 1.0 / static_cast<double>(step + 1)));
    }
  }

  void exception() {
    const std::int64_t at = x_course.gone_at(x_rank) - kMillisecond;
    program_line(at, "ERROR", fmt::format("rank {}: the step failed, giving up", x_rank));
    const std::string tag = fmt::format("[rank{}]: ", x_rank);
    x_lines.push_back({at, tag + "Traceback (most recent call last):\n" + tag +
                               "  File \"/workspace/train.py\", line 214, in <module>\n" + tag +
                               "    main()\n" + tag + "  File \"/workspace/train.py\", line 171, in main\n" +
                               tag + "    batch = tokenizer.encode(sample)\n" + tag +
                               "ValueError: sample 48213 holds no text"});
  }

  void waits_for_data() {
    for (const int seconds : {60, 120, 300}) {
      program_line(x_course.last_sign(x_rank) + seconds * kSecond, "WARNING",
                   fmt::format("rank {}: still waiting for the next batch from the dataloader ({} s)", x_rank,
                               seconds));
    }
  }

  void remote_error() {
    torch_line(
        x_course.gives_up_on_peer(x_rank) + 600 * kMillisecond, 2068,
        group_prefix(Slot::kWorld) +
            "Process group watchdog thread terminated with exception: NCCL error: remote process exited or "
            "there was a network error, NCCL version 2.29.7\nncclRemoteError: A call failed possibly due to "
            "a "
            "network error or a remote process exiting prematurely.");
  }

  void no_unique_id() {
    const std::int64_t at = x_course.start(x_rank) + kTimeLimit;
    program_line(at, "ERROR", fmt::format("rank {}: init_process_group failed", x_rank));
    x_lines.push_back(
        {at, fmt::format(
                 "[rank{0}]: torch.distributed.DistBackendError: [{0}] is setting up NCCL communicator and "
                 "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') "
                 "got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0",
                 x_rank)});
  }

  void torch_line(std::int64_t at, int source_line, const std::string& text) {
    x_lines.push_back({at, fmt::format("[rank{}]:[E{} ProcessGroupNCCL.cpp:{}] {}", x_rank,
                                       torch_time(at + x_offset), source_line, text)});
  }

  std::string group_prefix(Slot slot) const {
    const Layout& layout = x_job.layout();
    int number = 0;  // of the groups of this process
    for (const Slot each : kSlots) {
      if (each == slot) break;
      if (layout.has(each)) ++number;
    }
    return fmt::format("[PG ID {} PG GUID {}({}) Rank {}] ", number, layout.group_of(x_rank, slot),
                       description_of(slot), layout.rank_in_group(x_rank, slot));
  }

  std::string work_text(const Timeout& timeout) const {
    const Program& program = x_job.program(x_rank);
    const Work& work = program.works[timeout.work];
    CallId id = work.has_closing() ? work.closing_call : work.call;
    if (work.kind == Work::Kind::kTransfer) id = program.end_calls[static_cast<std::size_t>(work.ends[0])];
    const CallSpec& spec = x_job.calls().spec(id);
    UnevenRows rows;
    if (spec.uneven) rows = uneven_rows(x_job, x_rank, work.slot, timeout.sequence, spec.shape.front());
    const RecordedCall call = x_job.calls().recorded(id, rows.in, rows.out);
    return fmt::format("WorkNCCL(SeqNum={}, OpType={}, NumelIn={}, NumelOut={}, Timeout(ms)={})",
                       timeout.sequence, op_type(spec), elements(call.input_sizes),
                       elements(call.output_sizes), kTimeLimit / kMillisecond);
  }

  void watchdog() {
    const auto first = x_course.first_timeout();
    if (!first || x_course.has(Happening::Kind::kRetryExceeded, x_rank) ||
        x_course.fate(x_rank) != Fate::kRuns)
      return;
    const std::vector<Timeout> timeouts = x_course.timeouts(x_rank);
    // Who does not give up first is told to write its dump.
    const std::int64_t told =
        *first + 300 * kMillisecond +
        static_cast<std::int64_t>(hash({x_course.plan().seed, 451, static_cast<std::uint64_t>(x_rank)}) %
                                  700) *
            kMillisecond;
    bool asked = false;
    for (const Timeout& timeout : timeouts) {
      if (timeout.at > told + 5 * kSecond) break;  // by then the process has been ended
      give_up(timeout);
      if (!asked && timeout.at <= told) {
        torch_line(
            timeout.at + kMillisecond, 1794,
            group_prefix(Slot::kWorld) +
                "Received a dump signal due to a collective timeout from this local rank and we will try "
                "our best to dump the debug info. " +
                state());
        asked = true;
      }
    }
    if (!asked) {
      torch_line(told, 684,
                 group_prefix(Slot::kWorld) +
                     "Observed flight recorder dump signal from another rank via TCPStore.");
      torch_line(
          told, 1794,
          group_prefix(Slot::kWorld) +
              fmt::format("Received a dump signal due to a collective timeout from  rank {} and we will "
                          "try our best to dump the debug info. ",
                          x_course.first_to_give_up()) +
              state());
    }
    if (!timeouts.empty()) {
      torch_line(std::max(timeouts.front().at, told) + 20 * kMillisecond, 744,
                 group_prefix(timeouts.front().slot) +
                     "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
                     "kernels, subsequent GPU operations might run on corrupted/incomplete data.");
    }
  }

  void give_up(const Timeout& timeout) {
    const std::int32_t member = x_job.layout().rank_in_group(x_rank, timeout.slot);
    torch_line(timeout.at, 632,
               fmt::format("[Rank {}] Watchdog caught collective operation timeout: {} ran for {} "
                           "milliseconds before timing out.",
                           member, work_text(timeout), timeout.ran / kMillisecond));
    torch_line(
        timeout.at, 2268,
        group_prefix(timeout.slot) +
            fmt::format(" failure detected by watchdog at work sequence id: {} PG status: last enqueued "
                        "work: {}, last completed work: {}",
                        timeout.sequence, timeout.count.enqueued,
                        timeout.count.completed == 0 ? -1 : timeout.count.completed));
  }

  std::string state() const {
    std::int64_t enqueued = 0;
    std::int64_t completed = 0;
    const Program& program = x_job.program(x_rank);
    for (std::size_t i = 0; i < x_job.called(x_rank); ++i) {
      if (program.works[i].slot != Slot::kWorld) continue;
      ++enqueued;
      if (x_job.seen_finished(x_rank, i)) completed = enqueued;
    }
    return fmt::format("Last enqueued NCCL work: {}, last completed NCCL work: {}.{}",
                       enqueued == 0 ? -1 : enqueued, completed == 0 ? -1 : completed, kAdvice);
  }

  const Course& x_course;
  const Job& x_job;
  std::int32_t x_rank;
  std::int64_t x_offset;
  LogLines x_lines;
};

}  // namespace

LogLines torch_lines(const Course& course, std::int32_t rank) {
  return ProcessLines(course, rank).write();
}

}  // namespace unhang::simulate
