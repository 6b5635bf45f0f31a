// SPDX-License-Identifier: Apache-2.0
//
// A small dump of schema 2.10 as a tree, and a text of what was read from one, so that two readings can be
// compared as a whole.
#pragma once

#include <string>
#include <vector>

#include "formats/catalogue.h"
#include "formats/flight_recorder/tree_for_tests.h"

namespace unhang::formats::flight_recorder {

inline Tree texts(const std::vector<std::string>& values) {
  std::vector<Tree> out(values.begin(), values.end());
  return Tree::make_list(std::move(out));
}

// {{8}, {4, 4}} -> [[8], [4, 4]]
inline Tree sizes(const std::vector<std::vector<int>>& tensors) {
  std::vector<Tree> out;
  for (const auto& dims : tensors) out.push_back(Tree::make_list({dims.begin(), dims.end()}));
  return Tree::make_list(std::move(out));
}

inline Tree frame(const char* name, const char* file, int line) {
  return Tree::dict({{"name", name}, {"filename", file}, {"line", line}});
}

// Entry `i` of the sample: an all_reduce of the world, every third one a send, the last ones not complete.
inline Tree sample_entry(int i, bool json) {
  const bool p2p = i % 3 == 2;
  const std::int64_t created = 1'700'000'000'000'000'000 + i * std::int64_t{1'000'000};
  const bool done = i < 4;
  Tree::Items items;
  if (!json) {
    items.push_back({"frames", Tree::make_list({frame("all_reduce", "torch/distributed/distributed_c10d.py",
                                                      3000 + i % 2),
                                                frame("train", "train.py", 42)})});
  }
  items.insert(items.end(),
               {{"record_id", i},
                {"pg_id", p2p ? 1 : 0},
                {"process_group", json ? texts({p2p ? "3" : "0", p2p ? "pp" : "default_pg"})
                                       : Tree::make_tuple({p2p ? "3" : "0", p2p ? "pp" : "default_pg"})},
                {"thread_name", "pt_main \"x\""},
                {"thread_id", "139"},
                {"collective_seq_id", p2p ? 0 : i},
                {"p2p_seq_id", p2p ? i : 0},
                {"op_id", i + 1},
                {"profiling_name", p2p ? "nccl:send 0->1" : "nccl:all_reduce"},
                {"time_created_ns", created}});
  if (done) items.push_back({"duration_ms", 1.5});
  items.insert(items.end(), {{"input_sizes", sizes(p2p ? std::vector<std::vector<int>>{{300}}
                                                       : std::vector<std::vector<int>>{{8}, {4, 70000}, {}})},
                             {"input_dtypes", p2p ? texts({"Half"}) : texts({"Float", "Long", "Bool"})},
                             {"output_sizes", sizes({{8}})},
                             {"output_dtypes", texts({"Float"})},
                             {"state", done ? "completed" : "scheduled"},
                             {"time_discovered_started_ns", json ? Tree(0) : Tree()},
                             {"time_discovered_completed_ns", done   ? Tree(created + 5000)
                                                              : json ? Tree(0)
                                                                     : Tree()},
                             {"retired", done},
                             {"timeout_ms", 600000},
                             {"is_p2p", p2p}});
  return Tree::dict(std::move(items));
}

inline Tree sample_dump(int entries, bool json = false) {
  std::vector<Tree> list;
  for (int i = 0; i < entries; ++i) list.push_back(sample_entry(i, json));
  const auto status = [&](int enqueued, int completed) {
    const auto number = [&](int value) { return json ? Tree(std::to_string(value)) : Tree(value); };
    return Tree::dict({{"last_enqueued_collective", number(enqueued)},
                       {"last_started_collective", number(-1)},
                       {"last_completed_collective", number(completed)}});
  };
  const auto group = [](const char* name, const char* description, const char* ranks) {
    return std::pair<Tree, Tree>{name, Tree::dict({{"name", name}, {"desc", description}, {"ranks", ranks}})};
  };
  return Tree::dict(
      {{"version", "2.10"},
       {"pg_config", Tree::dict({group("0", "default_pg", "[0, 1, 2, 3]"), group("3", "pp", "[0, 2]")})},
       {"comm_lib_version", "2.27.5"},
       {"pg_status", Tree::dict({{"0", status(7, 4)}, {"1", status(8, -1)}})},
       {"entries", Tree::make_list(std::move(list))}});
}

inline std::string stack_text(const model::Dump& dump, const model::Operation& op) {
  std::string out;
  for (const model::FrameId id : dump.vocabulary.stack(op.stack)) {
    const model::Frame& f = dump.vocabulary.frame(id);
    out += ' ' + std::string(dump.vocabulary.text(f.function)) + '@' +
           std::string(dump.vocabulary.text(f.file)) + ':' + std::to_string(f.line);
  }
  return out;
}

inline std::string operation_text(const model::Dump& dump, const model::Operation& op, bool stacks) {
  const auto& v = dump.vocabulary;
  const model::Signature& s = v.signature(op.signature);
  const model::DumpGroup& g = dump.groups[op.group];
  std::string out(v.text(s.profiling_name));
  for (const std::string_view part :
       {v.text(s.backend), v.text(s.name), v.text(s.input_dtypes), v.text(s.output_dtypes), v.text(g.name),
        v.text(g.description), v.text(g.backend)}) {
    out += '|' + std::string(part);
  }
  for (const std::int64_t number :
       {op.created_ns, op.started_ns, op.completed_ns, op.collective_sequence, op.p2p_sequence, op.op_id,
        op.record_id, std::int64_t{op.timeout_ms}, g.pg_id, std::int64_t{s.self}, std::int64_t{s.peer},
        static_cast<std::int64_t>(s.kind), static_cast<std::int64_t>(op.state),
        static_cast<std::int64_t>(op.flags)}) {
    out += ' ' + std::to_string(number);
  }
  out += ' ' + std::to_string(op.duration_ms);
  out += model::shapes_text(v.shapes.encoded(s.input_shapes)) +
         model::shapes_text(v.shapes.encoded(s.output_shapes));
  return stacks ? out + stack_text(dump, op) : out;
}

inline std::vector<std::string> operation_texts(const model::Dump& dump, bool stacks = true) {
  std::vector<std::string> out;
  for (const model::Operation& op : dump.operations) out.push_back(operation_text(dump, op, stacks));
  return out;
}

inline std::string dump_text(const model::Dump& dump, bool stacks = true) {
  std::string out = dump.version + ' ' + dump.comm_library_version;
  for (const auto& group : dump.declared_groups) {
    for (const model::SymbolId id : {group.name, group.description, group.ranks_text})
      out += '|' + std::string(dump.vocabulary.text(id));
  }
  for (const auto& status : dump.status) {
    for (const std::int64_t number :
         {status.pg_id, status.last_enqueued, status.last_started, status.last_completed})
      out += ' ' + std::to_string(number);
  }
  for (const std::string& op : operation_texts(dump, stacks)) out += '\n' + op;
  return out;
}

inline std::string problem_codes(const Evidence& evidence) {
  std::string out;
  for (const auto& problem : evidence.problems) out += (out.empty() ? "" : ",") + problem.code;
  return out;
}

}  // namespace unhang::formats::flight_recorder
