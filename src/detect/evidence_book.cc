// SPDX-License-Identifier: Apache-2.0
#include "detect/evidence_book.h"

#include "base/time_text.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::OpState;

// Frames of PyTorch itself and of the interpreter's own files are not where the person's program is.
bool is_user_code(std::string_view file) {
  for (const std::string_view inside :
       {"/torch/", "torch/distributed/", "<frozen", "<string>", "/python3.", "runpy.py"}) {
    if (file.find(inside) != std::string_view::npos) {
      // The interpreter's folder also holds installed programs.
      if (inside == "/python3." && file.find("-packages/") != std::string_view::npos &&
          file.find("/torch/") == std::string_view::npos)
        continue;
      return false;
    }
  }
  return !file.empty() && !file.starts_with("torch/");
}

std::string state_text(const Operation& op) {
  if (op.has(Operation::kFinished)) return "finished";
  switch (op.state) {
    case OpState::kScheduled:
      return op.has(Operation::kRetired) ? "timed out or aborted" : "scheduled";
    case OpState::kStarted:
      return "started";
    case OpState::kCompleted:
      return "completed";
    case OpState::kUnknown:
      return "state not recorded";
  }
  return "state not recorded";
}

}  // namespace

model::EvidenceId EvidenceBook::cite(const OperationRef& ref) {
  const auto [at, is_new] =
      x_operations.try_emplace({ref.rank, ref.operation}, static_cast<model::EvidenceId>(x_items.size()));
  if (!is_new) return at->second;
  const model::Rank& rank = x_case.ranks[ref.rank];
  const Operation& op = rank.operations[ref.operation];
  model::EvidenceItem item;
  if (rank.input) item.file = x_case.inputs[*rank.input].path;
  if (op.record_id >= 0) item.record = op.record_id;
  item.text = "rank " + std::to_string(rank.global_rank) + ": " + operation_text(x_case, op) + ", " +
              call_with_size(x_case, op).substr(call_text(x_case, op).size());
  if (item.text.ends_with(", ")) item.text.resize(item.text.size() - 2);
  if (const auto of = item.text.find(",  of "); of != std::string::npos) item.text.replace(of, 6, ", ");
  item.text += ", " + state_text(op);
  if (op.created_ns > 0) item.text += ", enqueued " + base::utc_text(op.created_ns);
  x_items.push_back(std::move(item));
  return at->second;
}

model::EvidenceId EvidenceBook::cite(const model::EvidenceItem& item) {
  const auto [at, is_new] = x_records.try_emplace({item.file, item.line.value_or(0), item.text},
                                                  static_cast<model::EvidenceId>(x_items.size()));
  if (is_new) x_items.push_back(item);
  return at->second;
}

std::vector<model::StackLine> stack_lines(const model::Case& joined, model::StackId stack) {
  std::vector<model::StackLine> out;
  for (const model::FrameId id : joined.vocabulary.stack(stack)) {
    const model::Frame& frame = joined.vocabulary.frame(id);
    out.push_back({std::string(joined.text(frame.function)), std::string(joined.text(frame.file)), frame.line,
                   is_user_code(joined.text(frame.file))});
  }
  return out;
}

}  // namespace unhang::detect
