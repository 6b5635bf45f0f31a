// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/pickle_objects.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace unhang::formats::flight_recorder {

using model::SymbolId;

Value PickleObjects::real(double value) {
  Value out;
  out.kind = ValueKind::kFloat;
  out.real = value;
  return out;
}

Value PickleObjects::string(std::string_view text) {
  Value out;
  out.kind = ValueKind::kString;
  out.id = x_builder.vocabulary().symbols.intern(text);
  return out;
}

Field PickleObjects::learn_field(SymbolId symbol) {
  while (x_fields.size() <= symbol) {
    x_fields.push_back(field_of(x_builder.vocabulary().text(static_cast<SymbolId>(x_fields.size()))));
  }
  return x_fields[symbol];
}

PickleObjects::Container* PickleObjects::container(Value value) {
  return value.kind == ValueKind::kContainer ? &x_containers[value.id] : nullptr;
}

void PickleObjects::pin(Value value) {
  if (value.kind != ValueKind::kContainer) return;
  x_containers[value.id].pinned = true;
  x_pinned = std::max(x_pinned, value.id + 1);
  x_numbers_floor = x_numbers.size();
}

// Lists grow at the end of one shared array; a list that is extended later moves there with twice the room,
// so that alternating appends stay linear.
bool PickleObjects::reserve_numbers(Container& list, std::size_t more) {
  const std::size_t wanted = std::max({std::size_t{4}, std::size_t{list.capacity} * 2, list.count + more});
  const bool at_end = list.begin + list.capacity == x_numbers.size();
  const std::size_t begin = at_end ? list.begin : x_numbers.size();
  if (begin + wanted > kMaxNumbers) return false;
  x_numbers.resize(begin + wanted);
  if (begin != list.begin) {
    std::copy_n(x_numbers.begin() + list.begin, list.count,
                x_numbers.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  list.begin = static_cast<std::uint32_t>(begin);
  list.capacity = static_cast<std::uint32_t>(wanted);
  return true;
}

PickleObjects::Shape PickleObjects::item_shape(Value value) {
  switch (value.kind) {
    case ValueKind::kInt:
      return Shape::kNumbers;
    case ValueKind::kString:
      return Shape::kStrings;
    case ValueKind::kEntry:
      return Shape::kEntries;
    case ValueKind::kContainer:
      switch (x_containers[value.id].shape) {
        case Shape::kNumbers:
        case Shape::kEmpty:
          return Shape::kShapes;
        case Shape::kFrame:
          return Shape::kFrames;
        case Shape::kEntry:
          return Shape::kEntries;
        default:
          return Shape::kOther;
      }
    default:
      return Shape::kOther;
  }
}

bool PickleObjects::append_one(Container& list, Value item) {
  const Shape shape = item_shape(item);
  if (list.shape == Shape::kEmpty) list.shape = shape;
  if (list.shape != shape) list.shape = Shape::kOther;
  switch (list.shape) {
    case Shape::kNumbers:
      return push_number(list, item.integer);
    case Shape::kStrings:
      return push_number(list, item.id);
    case Shape::kFrames:
      return push_number(list, x_containers[item.id].id);
    case Shape::kShapes: {
      const Container dims =
          x_containers[item.id];  // a copy: pushing may move the numbers, not the containers
      if (!push_number(list, dims.count)) return false;
      for (std::uint32_t i = 0; i < dims.count; ++i) {
        if (!push_number(list, x_numbers[dims.begin + i])) return false;
      }
      return true;
    }
    default:
      return true;
  }
}

// The list that every entry has and that is long: a stack of frames, each known already.
bool PickleObjects::append_frames(Container& list, std::span<const Value> items, bool& all) {
  if (list.shape != Shape::kEmpty || items.size() < 2) return true;
  for (const Value& item : items) {
    if (item.kind != ValueKind::kContainer || x_containers[item.id].shape != Shape::kFrame) return true;
  }
  if (!reserve_numbers(list, items.size())) return false;
  list.shape = Shape::kFrames;
  for (const Value& item : items) x_numbers[list.begin + list.count++] = x_containers[item.id].id;
  all = true;
  return true;
}

bool PickleObjects::append(Value target, std::span<const Value> items) {
  Container* list = container(target);
  if (list == nullptr) return true;  // appending to a scalar: hostile, harmless
  bool all_frames = false;
  if (!append_frames(*list, items, all_frames)) return false;
  for (std::size_t i = 0; i < items.size() && !all_frames; ++i) {
    if (!append_one(*list, items[i])) return false;
  }
  if (target.id < x_pinned) x_numbers_floor = x_numbers.size();
  if (list->shape == Shape::kEntries) forget_after(target.id);
  return true;
}

void PickleObjects::set_items(Value target, std::span<const Value> items) {
  Container* dict = container(target);
  if (dict == nullptr) return;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    switch (field_of_symbol(items[i].id)) {
      case Field::kProfilingName:
      case Field::kRecordId:
      case Field::kCreated:
        reduce_entry(*dict, items);
        return forget_after(target.id);
      case Field::kFilename:
        return reduce_frame(*dict, items);
      case Field::kRanks:
        return reduce_group(*dict, items);
      case Field::kLastEnqueued:
      case Field::kLastCompleted:
        return reduce_status(*dict, items);
      case Field::kEntries:
      case Field::kPgConfig:
      case Field::kPgStatus:
      case Field::kVersion:
        dict->shape = Shape::kOther;
        return reduce_root(items);
      default:
        break;
    }
  }
  reduce_table(*dict, items);
}

// Everything that was opened after `container_index` belonged to it: unless pinned, it cannot be named again.
// Not so for a container that came from the memo: younger ones may still be open below it on the stack.
void PickleObjects::forget_after(std::uint32_t container_index) {
  if (x_containers[container_index].pinned) return;
  const std::uint32_t keep = std::max(container_index + 1, x_pinned);
  if (keep < x_containers.size()) x_containers.resize(keep);
  const Container& owner = x_containers[container_index];
  if (x_pinned <= container_index && owner.capacity == 0) {
    x_numbers.resize(std::min(x_numbers.size(), std::max<std::size_t>(owner.begin, x_numbers_floor)));
  }
}

void PickleObjects::reduce_entry(Container& dict, std::span<const Value> items) {
  dict.shape = Shape::kEntry;
  if (x_builder.operation_count() >= kMaxOperations) return void(++x_misfits);
  Entry entry;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    const Value value = items[i + 1];
    switch (field_of_symbol(items[i].id)) {
      case Field::kFrames:
        entry.stack = stack_of(value);
        break;
      case Field::kRecordId:
        entry.record_id = value.as_int(-1);
        break;
      case Field::kPgId:
        entry.pg_id = value.as_int(-1);
        break;
      case Field::kProcessGroup:
        read_process_group(value, entry);
        break;
      case Field::kSequence:
        entry.sequence = value.as_int(-1);
        break;
      case Field::kCollectiveSequence:
        entry.collective_sequence = value.as_int(-1);
        break;
      case Field::kP2pSequence:
        entry.p2p_sequence = value.as_int(-1);
        break;
      case Field::kOpId:
        entry.op_id = value.as_int(-1);
        break;
      case Field::kProfilingName:
        entry.profiling_name = symbol_of(value);
        break;
      case Field::kCreated:
        entry.created_ns = value.as_int(0);
        break;
      case Field::kStarted:
        entry.started_ns = value.as_int(0);
        break;
      case Field::kCompleted:
        entry.completed_ns = value.as_int(0);
        break;
      case Field::kDuration:
        if (value.kind == ValueKind::kFloat) entry.duration_ms = static_cast<float>(value.real);
        if (value.kind == ValueKind::kInt) entry.duration_ms = static_cast<float>(value.integer);
        break;
      case Field::kInputSizes:
        entry.input_shapes = shapes_of(value);
        break;
      case Field::kOutputSizes:
        entry.output_shapes = shapes_of(value);
        break;
      case Field::kInputDtypes:
        entry.input_dtypes = dtypes_of(value);
        break;
      case Field::kOutputDtypes:
        entry.output_dtypes = dtypes_of(value);
        break;
      case Field::kState:
        entry.state = symbol_of(value);
        break;
      case Field::kRetired:
        entry.retired = value.as_int(0) != 0;
        break;
      case Field::kTimeout:
        entry.timeout_ms = value.as_int(0);
        break;
      case Field::kIsP2p:
        entry.is_p2p = value.as_int(0) != 0;
        break;
      default:
        break;
    }
  }
  x_builder.add(entry);
}

void PickleObjects::reduce_frame(Container& dict, std::span<const Value> items) {
  model::Frame frame;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    switch (field_of_symbol(items[i].id)) {
      case Field::kName:
        frame.function = symbol_of(items[i + 1]);
        break;
      case Field::kFilename:
        frame.file = symbol_of(items[i + 1]);
        break;
      case Field::kLine:
        frame.line = items[i + 1].as_int(0);
        break;
      default:
        break;
    }
  }
  dict.shape = Shape::kFrame;
  dict.id = x_builder.vocabulary().intern(frame);
}

void PickleObjects::reduce_group(Container& dict, std::span<const Value> items) {
  Group group;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    switch (field_of_symbol(items[i].id)) {
      case Field::kName:
        group.name = symbol_of(items[i + 1]);
        break;
      case Field::kDesc:
        group.description = symbol_of(items[i + 1]);
        break;
      case Field::kRanks:
        group.ranks_text = ranks_text_of(items[i + 1]);
        break;
      default:
        break;
    }
  }
  dict.shape = Shape::kGroup;
  dict.id = static_cast<std::uint32_t>(x_groups.size());
  x_groups.push_back(group);
  x_builder.declare_group(group.name, group.description, group.ranks_text);
}

void PickleObjects::reduce_status(Container& dict, std::span<const Value> items) {
  model::GroupStatus status;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    const std::int64_t number = items[i + 1].as_int(-1);
    switch (field_of_symbol(items[i].id)) {
      case Field::kLastEnqueued:
        status.last_enqueued = number;
        break;
      case Field::kLastStarted:
        status.last_started = number;
        break;
      case Field::kLastCompleted:
        status.last_completed = number;
        break;
      default:
        break;
    }
  }
  dict.shape = Shape::kStatus;
  dict.id = static_cast<std::uint32_t>(x_status.size());
  x_status.push_back(status);
}

// {"1": {status}} or, in version 1.4, {0: [0, 1, 2]}: group id and ranks without a name.
void PickleObjects::reduce_table(Container& dict, std::span<const Value> items) {
  if (dict.shape == Shape::kEmpty) dict.shape = Shape::kOther;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const Container* value = container(items[i + 1]);
    if (value == nullptr) continue;
    std::int64_t id = items[i].as_int(-1);
    if (items[i].kind == ValueKind::kString) {
      const std::string_view text = x_builder.vocabulary().text(items[i].id);
      std::from_chars(text.data(), text.data() + text.size(), id);
    }
    if (value->shape == Shape::kStatus) {
      model::GroupStatus status = x_status[value->id];
      status.pg_id = id;
      x_builder.add_status(status);
    } else if (value->shape == Shape::kNumbers && items[i].kind == ValueKind::kInt) {
      const SymbolId name = x_builder.vocabulary().symbols.intern(std::to_string(id));
      x_builder.declare_group(name, 0, ranks_text_of(items[i + 1]));
    }
  }
}

void PickleObjects::reduce_root(std::span<const Value> items) {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != ValueKind::kString) continue;
    const Value value = items[i + 1];
    switch (field_of_symbol(items[i].id)) {
      case Field::kEntries:
        if (const Container* list = container(value)) x_misfits += list->shape == Shape::kOther ? 1 : 0;
        x_builder.set_has_entries();
        break;
      case Field::kVersion:
        if (value.kind == ValueKind::kString) x_builder.set_version(x_builder.vocabulary().text(value.id));
        break;
      case Field::kCommLibVersion:
        if (value.kind == ValueKind::kString) {
          x_builder.set_comm_library_version(x_builder.vocabulary().text(value.id));
        }
        break;
      default:
        break;
    }
  }
}

void PickleObjects::salvage_root(std::span<const Value> items) {
  reduce_root(items);
}

SymbolId PickleObjects::symbol_of(Value value) {
  return value.kind == ValueKind::kString ? value.id : 0;
}

// A (name, description) pair; a plain name in some 2.0 dumps.
void PickleObjects::read_process_group(Value value, Entry& entry) {
  if (value.kind == ValueKind::kString) entry.group_name = value.id;
  const Container* pair = container(value);
  if (pair == nullptr || pair->shape != Shape::kStrings) return;
  const auto ids = numbers(*pair);
  entry.group_name = static_cast<SymbolId>(ids[0]);
  if (ids.size() > 1) entry.group_description = static_cast<SymbolId>(ids[1]);
}

model::ShapesId PickleObjects::intern_shapes(std::span<const std::int64_t> encoded) {
  auto& shapes = x_builder.vocabulary().shapes;
  if (x_composed + encoded.size_bytes() > kMaxComposed) return ++x_misfits, 0;
  const std::size_t known = shapes.size();
  const model::ShapesId id = shapes.intern(encoded);
  if (shapes.size() > known) x_composed += encoded.size_bytes();
  return id;
}

model::ShapesId PickleObjects::shapes_of(Value value) {
  const Container* list = container(value);
  if (list == nullptr) return 0;
  if (list->shape == Shape::kShapes) return intern_shapes(numbers(*list));
  x_misfits += list->shape == Shape::kOther ? 1 : 0;
  if (list->shape != Shape::kNumbers) return 0;
  x_shape_scratch.assign(1, list->count);  // one flat list of numbers: one tensor
  const auto dims = numbers(*list);
  x_shape_scratch.insert(x_shape_scratch.end(), dims.begin(), dims.end());
  return intern_shapes(x_shape_scratch);
}

SymbolId PickleObjects::dtypes_of(Value value) {
  if (value.kind == ValueKind::kString) return value.id;
  const Container* list = container(value);
  x_misfits += list != nullptr && list->shape == Shape::kOther ? 1 : 0;
  if (list == nullptr || list->shape != Shape::kStrings) return 0;
  const auto ids = numbers(*list);
  if (ids.size() == 1) return static_cast<SymbolId>(ids[0]);
  std::string joined;
  for (const std::int64_t id : ids) {
    if (joined.size() > kMaxString) break;
    if (!joined.empty()) joined += ',';
    joined += x_builder.vocabulary().text(static_cast<SymbolId>(id));
  }
  auto& symbols = x_builder.vocabulary().symbols;
  if (x_composed + joined.size() > kMaxComposed) return ++x_misfits, 0;
  const std::size_t known = symbols.size();
  const SymbolId id = symbols.intern(joined);
  if (symbols.size() > known) x_composed += joined.size();
  return id;
}

model::StackId PickleObjects::stack_of(Value value) {
  const Container* list = container(value);
  x_misfits += list != nullptr && list->shape == Shape::kOther ? 1 : 0;
  if (list == nullptr || list->shape != Shape::kFrames) return 0;
  const auto ids = numbers(*list);
  x_frame_scratch.resize(ids.size());
  std::transform(ids.begin(), ids.end(), x_frame_scratch.begin(),
                 [](std::int64_t id) { return static_cast<model::FrameId>(id); });
  return x_builder.vocabulary().intern_stack(x_frame_scratch);
}

// Ranks are a text in every dump seen; version 1.4 and re-encoded dumps have a list.
SymbolId PickleObjects::ranks_text_of(Value value) {
  if (value.kind == ValueKind::kString) return value.id;
  const Container* list = container(value);
  if (list == nullptr || list->shape != Shape::kNumbers) return 0;
  std::string text = "[";
  for (const std::int64_t rank : numbers(*list)) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(rank);
  }
  return x_builder.vocabulary().symbols.intern(text + "]");
}

}  // namespace unhang::formats::flight_recorder
