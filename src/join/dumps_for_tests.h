// SPDX-License-Identifier: Apache-2.0
//
// Dumps for the tests of join/, in few lines:
//
//   TestDump d("dump_1");
//   d.world("[0, 1, 2]").group("5", "tp", "[1, 2]").call("all_reduce", 1, "completed").status(0, 1, 1);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/evidence.h"
#include "formats/flight_recorder/dump_builder.h"
#include "join/join.h"

namespace unhang::join {

class TestDump {
 public:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kStart = 1'700'000'000 * kSecond;

  explicit TestDump(std::string path, std::string backend = "nccl")
      : x_path(std::move(path)), x_backend(std::move(backend)) {
    x_builder.set_version("2.10");
    x_builder.set_has_entries();
  }

  // Declares a group in pg_config.
  TestDump& group(std::string_view name, std::string_view description, std::string_view ranks) {
    x_builder.declare_group(symbol(name), symbol(description), symbol(ranks));
    return *this;
  }
  TestDump& world(std::string_view ranks) { return group("0", "default_pg", ranks); }

  // The group that the following calls are made in.
  TestDump& in(std::string_view name, std::string_view description, std::int64_t pg_id) {
    x_group = {symbol(name), symbol(description)};
    x_pg_id = pg_id;
    return *this;
  }
  TestDump& at(std::int64_t seconds) {
    x_now = kStart + seconds * kSecond;
    return *this;
  }
  TestDump& first_record(std::int64_t id) {
    x_record = id;
    return *this;
  }
  // The transfers and collectives that the following entries count beside their own kind.
  TestDump& counts(std::int64_t transfers, std::int64_t collectives) {
    x_transfers = transfers;
    x_collectives = collectives;
    return *this;
  }
  TestDump& call(const std::string& name, std::int64_t sequence, std::string_view state,
                 bool retired = false) {
    formats::flight_recorder::Entry entry = make(name, state);
    entry.collective_sequence = sequence;
    entry.p2p_sequence = x_transfers;
    entry.op_id = sequence;
    entry.retired = retired || state == "completed";
    return add(entry);
  }
  TestDump& transfer(const std::string& name, std::int64_t sequence, std::string_view state) {
    formats::flight_recorder::Entry entry = make(name, state);
    entry.collective_sequence = x_collectives;
    entry.p2p_sequence = sequence;
    entry.is_p2p = true;
    return add(entry);
  }
  TestDump& op_id(std::int64_t id, const std::string& name, std::int64_t sequence, bool retired) {
    formats::flight_recorder::Entry entry = make(name, "scheduled");
    entry.collective_sequence = sequence;
    entry.op_id = id;
    entry.retired = retired;
    return add(entry);
  }
  TestDump& status(std::int64_t pg_id, std::int64_t enqueued, std::int64_t completed) {
    x_builder.add_status({pg_id, enqueued, -1, completed});
    return *this;
  }
  TestDump& library(std::string_view version) {
    x_builder.set_comm_library_version(version);
    return *this;
  }

  formats::Evidence finish(bool complete = true, bool json = false) {
    formats::Evidence out;
    out.path = x_path;
    out.kind = json ? "flight_recorder_json" : "flight_recorder_pickle";
    out.dumps.push_back(x_builder.finish(complete, json));
    return out;
  }

 private:
  model::SymbolId symbol(std::string_view text) { return x_builder.vocabulary().symbols.intern(text); }

  formats::flight_recorder::Entry make(const std::string& name, std::string_view state) {
    formats::flight_recorder::Entry entry;
    if (x_group.first == 0) in("0", "default_pg", 0);
    entry.record_id = x_record++;
    entry.pg_id = x_pg_id;
    entry.group_name = x_group.first;
    entry.group_description = x_group.second;
    entry.profiling_name = symbol(x_backend + ':' + name);
    entry.created_ns = x_now;
    x_now += kSecond;
    entry.timeout_ms = 600000;
    entry.state = symbol(state);
    return entry;
  }
  TestDump& add(const formats::flight_recorder::Entry& entry) {
    x_builder.add(entry);
    return *this;
  }

  std::string x_path, x_backend;
  formats::flight_recorder::DumpBuilder x_builder;
  std::pair<model::SymbolId, model::SymbolId> x_group{0, 0};
  std::int64_t x_pg_id = 0;
  std::int64_t x_now = kStart;
  std::int64_t x_record = 0;
  std::int64_t x_transfers = 0, x_collectives = 0;
};

inline model::Case join_all(std::vector<formats::Evidence> evidence, unsigned threads = 1,
                            const Hints& hints = {}) {
  CaseBuilder builder(threads);
  builder.add(std::move(evidence));
  return builder.finish(hints);
}

template <class... Dumps>
std::vector<formats::Evidence> list(Dumps&&... dumps) {
  std::vector<formats::Evidence> out;
  (out.push_back(std::forward<Dumps>(dumps)), ...);
  return out;
}

// "dump_1: reason" for each dump that was set aside.
inline std::vector<std::string> set_aside_texts(const model::Case& joined) {
  std::vector<std::string> out;
  for (const auto& one : joined.set_aside) out.push_back(joined.inputs[one.input].path + ": " + one.reason);
  return out;
}

}  // namespace unhang::join
