// SPDX-License-Identifier: Apache-2.0
//
// Turns what the pickle and JSON readers find into a model::Dump, so that both forms give the same values.
// The readers call it entry by entry; nothing of the file is kept but the compact records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/key_index.h"
#include "model/dump.h"

namespace unhang::formats::flight_recorder {

// One entry as its keys say. Unset fields keep their defaults: every version lacks some.
struct Entry {
  std::int64_t record_id = -1;
  std::int64_t pg_id = -1;
  model::SymbolId group_name = 0;
  model::SymbolId group_description = 0;
  std::int64_t sequence = -1;
  std::int64_t collective_sequence = -1;
  std::int64_t p2p_sequence = -1;
  std::int64_t op_id = -1;
  model::SymbolId profiling_name = 0;
  std::int64_t created_ns = 0;
  std::int64_t started_ns = 0;
  std::int64_t completed_ns = 0;
  float duration_ms = model::Operation::kNoDuration;
  model::ShapesId input_shapes = 0;
  model::ShapesId output_shapes = 0;
  model::SymbolId input_dtypes = 0;
  model::SymbolId output_dtypes = 0;
  model::SymbolId state = 0;
  bool retired = false;
  std::int64_t timeout_ms = 0;
  std::optional<bool> is_p2p;
  model::StackId stack = 0;
};

class DumpBuilder {
 public:
  model::Vocabulary& vocabulary() { return x_dump.vocabulary; }
  std::size_t operation_count() const { return x_dump.operations.size(); }

  // `bytes` of input will follow: room for as many operations as they usually hold (170 bytes each with
  // stacks).
  void expect(std::size_t bytes) { x_dump.operations.reserve(bytes / 160); }
  void add(const Entry& entry);
  void declare_group(model::SymbolId name, model::SymbolId description, model::SymbolId ranks_text);
  void add_status(const model::GroupStatus& status) { x_dump.status.push_back(status); }
  void set_version(std::string_view version) { x_dump.version = version; }
  void set_comm_library_version(std::string_view version) { x_dump.comm_library_version = version; }
  void set_has_entries() { x_dump.has_entries = true; }
  // True when anything of a Flight Recorder dump was found at all.
  bool is_dump() const;

  // Ends building: marks coalesced blocks and hands the dump over.
  model::Dump finish(bool complete, bool is_json);

 private:
  struct Name {
    bool known = false;
    model::SymbolId backend = 0;
    model::SymbolId name = 0;
    model::OpKind kind = model::OpKind::kOther;
    std::int32_t self = -1;
    std::int32_t peer = -1;
  };
  const Name& name_of(model::SymbolId profiling_name);
  std::uint32_t group_of(const Entry& entry, model::SymbolId backend);
  model::OpState state_of(model::SymbolId state);
  model::SignatureId signature_of(const Entry& entry, const Name& name);

  model::Dump x_dump;
  std::vector<Name> x_names;  // by profiling-name symbol
  std::vector<std::uint8_t> x_states;
  base::KeyIndex x_group_ids;
  std::uint32_t x_last_group = 0;
  // Calls repeat: the last signature of each slot, so that most entries need no search.
  struct Recent {
    model::SymbolId profiling_name = 0, input_dtypes = 0, output_dtypes = 0;
    model::ShapesId input_shapes = 0, output_shapes = 0;
    model::SignatureId id = 0;
  };
  std::array<Recent, 64> x_recent{};
};

}  // namespace unhang::formats::flight_recorder
