// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/dump_builder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "formats/flight_recorder/coalesced_blocks.h"

namespace unhang::formats::flight_recorder {

using model::Operation;
using model::OpKind;
using model::OpState;
using model::SymbolId;

const DumpBuilder::Name& DumpBuilder::name_of(SymbolId profiling_name) {
  if (profiling_name >= x_names.size()) x_names.resize(profiling_name + 1);
  Name& name = x_names[profiling_name];
  if (!name.known) {
    const model::ProfilingName split = model::split_profiling_name(x_dump.vocabulary.text(profiling_name));
    name.known = true;
    name.kind = split.kind;
    name.self = split.self;
    name.peer = split.peer;
    name.backend = x_dump.vocabulary.symbols.intern(split.backend);
    name.name = x_dump.vocabulary.symbols.intern(split.name);
  }
  return name;
}

std::uint32_t DumpBuilder::group_of(const Entry& entry, SymbolId backend) {
  const model::DumpGroup wanted{entry.pg_id, entry.group_name, entry.group_description, backend};
  if (x_last_group < x_dump.groups.size() && x_dump.groups[x_last_group] == wanted) return x_last_group;
  const std::array<std::int64_t, 4> key{entry.pg_id, entry.group_name, entry.group_description, backend};
  const std::string_view bytes{reinterpret_cast<const char*>(key.data()), sizeof key};
  x_last_group = x_group_ids.add(bytes, [&] { x_dump.groups.push_back(wanted); });
  return x_last_group;
}

OpState DumpBuilder::state_of(SymbolId state) {
  if (state >= x_states.size()) x_states.resize(state + 1, 0);
  std::uint8_t& known = x_states[state];  // OpState + 1; 0: not looked at yet
  if (known == 0) {
    const std::string_view text = x_dump.vocabulary.text(state);
    OpState value = OpState::kUnknown;
    if (text == "scheduled") value = OpState::kScheduled;
    if (text == "started") value = OpState::kStarted;
    if (text == "completed") value = OpState::kCompleted;
    known = static_cast<std::uint8_t>(static_cast<std::uint8_t>(value) + 1);
  }
  return static_cast<OpState>(known - 1);
}

namespace {

// Times outside 1970 to 2096 are damage: not recorded. What remains can be subtracted without overflow.
std::int64_t sensible_time(std::int64_t ns) {
  return ns > 0 && ns < 4'000'000'000'000'000'000 ? ns : 0;
}

}  // namespace

model::SignatureId DumpBuilder::signature_of(const Entry& entry, const Name& name) {
  Recent& recent =
      x_recent[(entry.profiling_name * 7 + entry.input_shapes * 3 + entry.output_shapes) % x_recent.size()];
  if (recent.id != 0 && recent.profiling_name == entry.profiling_name &&
      recent.input_shapes == entry.input_shapes && recent.output_shapes == entry.output_shapes &&
      recent.input_dtypes == entry.input_dtypes && recent.output_dtypes == entry.output_dtypes) {
    return recent.id;
  }
  const model::SignatureId id =
      x_dump.vocabulary.intern(model::Signature{.profiling_name = entry.profiling_name,
                                                .backend = name.backend,
                                                .name = name.name,
                                                .kind = name.kind,
                                                .self = name.self,
                                                .peer = name.peer,
                                                .input_shapes = entry.input_shapes,
                                                .output_shapes = entry.output_shapes,
                                                .input_dtypes = entry.input_dtypes,
                                                .output_dtypes = entry.output_dtypes});
  recent = {entry.profiling_name, entry.input_dtypes,  entry.output_dtypes,
            entry.input_shapes,   entry.output_shapes, id};
  return id;
}

void DumpBuilder::add(const Entry& entry) {
  x_dump.has_entries = true;
  const Name name = name_of(entry.profiling_name);
  Operation op;
  op.created_ns = sensible_time(entry.created_ns);
  op.started_ns = sensible_time(entry.started_ns);
  op.completed_ns = sensible_time(entry.completed_ns);
  op.record_id = entry.record_id;
  op.op_id = entry.op_id;
  op.duration_ms = entry.duration_ms;
  op.timeout_ms = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(entry.timeout_ms, 0, std::numeric_limits<std::uint32_t>::max()));
  op.stack = entry.stack;
  op.state = state_of(entry.state);
  op.group = group_of(entry, name.backend);
  if (entry.retired) op.flags |= Operation::kRetired;
  // Dumps from before is_p2p existed: the kind says it.
  if (entry.is_p2p.value_or(name.kind == OpKind::kSend || name.kind == OpKind::kRecv))
    op.flags |= Operation::kP2p;
  op.collective_sequence = entry.collective_sequence >= 0 ? entry.collective_sequence : entry.sequence;
  op.p2p_sequence =
      entry.p2p_sequence >= 0 ? entry.p2p_sequence : (op.has(Operation::kP2p) ? entry.sequence : -1);
  op.signature = signature_of(entry, name);
  x_dump.operations.push_back(op);
}

void DumpBuilder::declare_group(SymbolId name, SymbolId description, SymbolId ranks_text) {
  x_dump.declared_groups.push_back({name, description, ranks_text});
}

bool DumpBuilder::is_dump() const {
  return !x_dump.operations.empty() || x_dump.has_entries || !x_dump.status.empty() ||
         !x_dump.declared_groups.empty();
}

model::Dump DumpBuilder::finish(bool complete, bool is_json) {
  x_dump.complete = complete;
  x_dump.is_json = is_json;
  mark_coalesced_blocks(x_dump);
  if (x_dump.operations.capacity() > x_dump.operations.size() + x_dump.operations.size() / 4)
    x_dump.operations.shrink_to_fit();
  return std::move(x_dump);
}

}  // namespace unhang::formats::flight_recorder
