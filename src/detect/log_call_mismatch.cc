// SPDX-License-Identifier: Apache-2.0
//
// Ranks that call different things at the same place, as logs show it: NCCL's COLL lines by opCount, the
// watchdog's time-outs by sequence number, PyTorch's own comparison, and transfers whose sizes differ.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/log_timeouts.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogCall;
using model::LogCommunicator;
using model::LogEventKind;

// --- COLL lines ---

// Which communicator of another process is the same: by its id; else by its size and the order in which the
// process made it, since pointers differ.
std::vector<std::string> communicator_keys(const model::Log& log) {
  std::map<std::tuple<std::string, std::int64_t, std::int32_t, std::int32_t>, int> made;
  std::vector<std::string> out;
  for (const LogCommunicator& c : log.communicators) {
    const model::LogOrigin& origin = log.origins[c.origin];
    const int ordinal = made[{origin.host, origin.pid, c.cuda_device, c.ranks}]++;
    out.push_back(c.id ? "id " + std::to_string(*c.id)
                       : "n " + std::to_string(c.ranks) + " " + std::to_string(ordinal));
  }
  return out;
}

bool comparable(const LogCall& call) {
  return call.kind != "Send" && call.kind != "Recv" && call.kind != "Gather" && call.kind != "Scatter";
}

std::string call_words(const LogCall& call) {
  return call.kind + " of " + std::to_string(call.count) + " elements";
}

void add_from_calls(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const model::Log& log = logs.joined->logs;
  if (log.calls.empty()) return;
  const std::vector<std::string> keys = communicator_keys(log);
  // communicator -> opCount -> what each process called there (its first call with that number)
  std::map<std::string, std::map<std::uint64_t, std::map<std::uint32_t, const LogCall*>>> table;
  for (const LogCall& call : log.calls) {
    if (comparable(call)) table[keys[call.communicator]][call.op_count].emplace(call.communicator, &call);
  }
  for (const auto& [key, counts] : table) {
    for (const auto& [op_count, calls] : counts) {
      if (calls.size() < 2) continue;
      std::map<std::tuple<std::string, std::uint64_t, std::int32_t, std::int32_t>,
               std::vector<const LogCall*>>
          variants;
      for (const auto& [communicator, call] : calls)
        variants[{call->kind, call->count, call->datatype, call->root}].push_back(call);
      if (variants.size() < 2) continue;
      std::vector<const std::vector<const LogCall*>*> by_size;
      for (const auto& [variant, who] : variants) by_size.push_back(&who);
      std::stable_sort(by_size.begin(), by_size.end(),
                       [](const auto* a, const auto* b) { return a->size() > b->size(); });
      const LogCall& usual = *by_size[0]->front();
      const LogCall& odd = *by_size[1]->front();
      const bool same_kind = usual.kind == odd.kind;
      Explanation found =
          log_finding(logs, Category::kCollectiveDesync,
                      !same_kind                       ? "op_mismatch"
                      : usual.datatype != odd.datatype ? "dtype_mismatch"
                      : usual.count != odd.count       ? "size_mismatch"
                                                       : "root_mismatch",
                      Confidence::kMedium,
                      "at opCount " + std::to_string(op_count) + " of one communicator some ranks called " +
                          call_words(usual) + " and others " + call_words(odd),
                      {});
      const bool majority = by_size.size() == 2 && by_size[0]->size() > by_size[1]->size();
      for (std::size_t i = 0; i < by_size.size(); ++i) {
        for (const LogCall* call : *by_size[i]) {
          const LogCommunicator& c = log.communicators[call->communicator];
          if (found.records.size() < 12)
            found.records.push_back(cite_line(logs, c.input, call->line,
                                              call_words(*call) + " at opCount " + std::to_string(op_count)));
          if (i == 0 && majority) continue;
          model::Subject subject = writer(logs, c.origin);
          if (!subject.rank && c.rank >= 0) subject.group_rank = c.rank;
          subject.why = "called " + call_words(*call);
          auto& list = majority ? found.other_culprits : found.other_suspects;
          if (list.size() < 64) list.push_back(std::move(subject));
        }
      }
      out.push_back(std::move(found));
      return;  // what comes after is its shadow
    }
  }
}

// --- time-outs ---

bool sizes_must_agree(const std::string& operation) {
  return operation.find("GATHER") != 0 && operation.find("SCATTER") != 0 && operation != "SEND" &&
         operation != "RECV" && operation.find("ALLTOALL") == std::string::npos && operation != "UNKNOWN" &&
         !operation.empty();
}

void add_from_timeouts(const LogAnalysis& logs, std::vector<Explanation>& out) {
  for (const TimeoutGroup& group : logs.timeout_groups) {
    std::map<std::int64_t, std::vector<const model::WatchdogTimeout*>> at;
    for (const model::WatchdogTimeout* timeout : group.members) {
      if (timeout->sequence >= 0 && !timeout->operation.empty() && !timeout->cut)
        at[timeout->sequence].push_back(timeout);
    }
    for (const auto& [sequence, timeouts] : at) {
      std::map<std::tuple<std::string, std::int64_t, std::int64_t>,
               std::vector<const model::WatchdogTimeout*>>
          variants;
      for (const auto* timeout : timeouts) {
        const bool sized = sizes_must_agree(timeout->operation) && timeout->elements_in >= 0;
        variants[{timeout->operation, sized ? timeout->elements_in : -1, sized ? timeout->elements_out : -1}]
            .push_back(timeout);
      }
      if (variants.size() < 2) continue;
      const auto usual = std::max_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
      std::set<std::string> operations;
      for (const auto& [variant, who] : variants) operations.insert(std::get<0>(variant));
      const bool one_group = !group.key.empty();
      // Without the group's name equal numbers of different calls may be of two groups.
      if (!one_group && operations.size() > 1) continue;
      Explanation found = log_finding(
          logs, Category::kCollectiveDesync, operations.size() > 1 ? "op_mismatch" : "size_mismatch",
          one_group ? Confidence::kMedium : Confidence::kLow,
          "at #" + std::to_string(sequence) + (group.label.empty() ? "" : " of " + group.label) +
              " the ranks called different things: " +
              (operations.size() > 1 ? listed({operations.begin(), operations.end()})
                                     : *operations.begin() + " with different sizes"),
          {});
      const bool majority = usual->second.size() * 3 >= timeouts.size() * 2;
      for (const auto& [variant, who] : variants) {
        for (const auto* timeout : who) {
          if (found.records.size() < 12) found.records.push_back(cite(logs, *timeout));
          if (majority && variant == usual->first) continue;
          model::Subject subject = subject_of_timeout(logs, group, *timeout);
          subject.why =
              "called " + timeout->operation + " with " + std::to_string(timeout->elements_in) + " elements";
          auto& list = majority && one_group ? found.other_culprits : found.other_suspects;
          if (list.size() < 64) list.push_back(std::move(subject));
        }
      }
      found.where = where_of(group, *usual->second.front());
      out.push_back(std::move(found));
      return;
    }
  }
}

}  // namespace

std::vector<Explanation> find_log_call_mismatch(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  const EventRefs& reports = logs.of(LogEventKind::kShapeMismatchReport);
  if (!reports.empty()) {
    out.push_back(log_finding(
        logs, Category::kCollectiveDesync, "op_mismatch", Confidence::kMedium,
        "PyTorch's own check found ranks that call different collectives or shapes: " + reports.front()->text,
        reports));
  }
  add_from_calls(logs, out);
  add_from_timeouts(logs, out);
  const EventRefs& sizes = logs.of(LogEventKind::kNetSizeMismatch);
  if (!sizes.empty()) {
    Explanation found =
        log_finding(logs, Category::kCollectiveDesync, "size_mismatch", Confidence::kLow,
                    "two ranks exchange different sizes (" + sizes.front()->detail +
                        "): different calls, or different NCCL settings or versions on the two",
                    sizes);
    found.alternatives.push_back(
        {.category = Category::kInitializationHang,
         .cause = "env_mismatch",
         .speaks_for = {"NCCL_ALGO, NCCL_PROTO or the buffer size differ between hosts"},
         .speaks_against = {},
         .decide_by = "compare `env | grep NCCL` of all ranks"});
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
