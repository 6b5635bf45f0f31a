// SPDX-License-Identifier: Apache-2.0
//
// The values of a pickle while it is read. No tree is kept: as soon as a container is complete it is reduced
// to what it means (a stack id, a shape id, an operation in the dump), and its parts are forgotten unless the
// pickle's memo may name them again. That is what keeps reading near the speed of the memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/flight_recorder/dump_builder.h"
#include "formats/flight_recorder/fields.h"
#include "formats/flight_recorder/flight_recorder.h"

namespace unhang::formats::flight_recorder {

enum class ValueKind : std::uint8_t { kNothing, kBool, kInt, kFloat, kString, kContainer, kEntry, kUnset };

struct Value {
  ValueKind kind = ValueKind::kNothing;
  union {
    std::int64_t integer = 0;  // kInt, kBool
    double real;               // kFloat
    std::uint32_t id;          // kString: symbol; kContainer: index
  };

  std::int64_t as_int(std::int64_t otherwise) const {
    return kind == ValueKind::kInt || kind == ValueKind::kBool ? integer : otherwise;
  }
};

class PickleObjects {
 public:
  explicit PickleObjects(DumpBuilder& builder) : x_builder(builder) {}

  Value string(std::string_view text);
  static Value integer(std::int64_t value) {
    Value out;
    out.kind = ValueKind::kInt;
    out.integer = value;
    return out;
  }
  static Value boolean(bool value) {
    Value out = integer(value ? 1 : 0);
    out.kind = ValueKind::kBool;
    return out;
  }
  static Value real(double value);

  // Stands for an entry that was read in one go: it is in the dump already.
  static Value entry() {
    Value out;
    out.kind = ValueKind::kEntry;
    return out;
  }

  Field field_of_symbol(model::SymbolId symbol) {
    return symbol < x_fields.size() ? x_fields[symbol] : learn_field(symbol);
  }
  // False when the value is no frame.
  bool frame_of(Value value, model::FrameId& out) const {
    if (value.kind != ValueKind::kContainer || x_containers[value.id].shape != Shape::kFrame) return false;
    out = x_containers[value.id].id;
    return true;
  }

  // False when a ceiling of flight_recorder.h is reached.
  bool open_container(Value& out) {
    if (x_containers.size() >= kMaxContainers) return false;
    out.kind = ValueKind::kContainer;
    out.id = static_cast<std::uint32_t>(x_containers.size());
    x_containers.emplace_back().begin = static_cast<std::uint32_t>(x_numbers.size());
    return true;
  }
  bool append(Value list, std::span<const Value> items);  // list or tuple
  void set_items(Value dict, std::span<const Value> keys_and_values);
  // The memo may name `value` again later: its container must outlive its parent.
  void pin(Value value);

  // After a truncated read: what the unfinished root dictionary held so far.
  void salvage_root(std::span<const Value> keys_and_values);

  // Values that stood where the schema has something else, and entries beyond the ceiling: read over,
  // counted.
  std::uint64_t misfits() const { return x_misfits; }

 private:
  enum class Shape : std::uint8_t {
    kEmpty,
    kNumbers,  // [8, 4]          numbers[begin, begin+count)
    kStrings,  // ["Float", …]    symbol ids
    kShapes,   // [[8], [4, 4]]   encoded as in model::ShapeTable
    kFrame,    // a frame         id
    kFrames,   // [frame, …]      frame ids
    kEntry,
    kEntries,
    kGroup,   // {name, desc, ranks}   id: index into x_groups
    kStatus,  // {last_enqueued…}      id: index into x_status
    kOther,
  };
  struct Container {
    Shape shape = Shape::kEmpty;
    bool pinned = false;  // the memo may name it: what stands below it on the stack need not be older
    std::uint32_t id = 0;
    // In x_numbers. A container without numbers keeps in `begin` where the numbers ended when it was opened.
    std::uint32_t begin = 0, count = 0, capacity = 0;
  };
  struct Group {
    model::SymbolId name = 0, description = 0, ranks_text = 0;
  };

  Field learn_field(model::SymbolId symbol);
  bool reserve_numbers(Container& list, std::size_t more);
  Container* container(Value value);
  Shape item_shape(Value value);
  bool push_number(Container& list, std::int64_t number) {
    if (list.count == list.capacity && !reserve_numbers(list, 1)) return false;
    x_numbers[list.begin + list.count++] = number;
    return true;
  }
  bool append_one(Container& list, Value item);
  bool append_frames(Container& list, std::span<const Value> items, bool& all);
  std::span<const std::int64_t> numbers(const Container& c) const {
    return {x_numbers.data() + c.begin, c.count};
  }

  void reduce_entry(Container& dict, std::span<const Value> items);
  void reduce_frame(Container& dict, std::span<const Value> items);
  void reduce_group(Container& dict, std::span<const Value> items);
  void reduce_status(Container& dict, std::span<const Value> items);
  void reduce_root(std::span<const Value> items);
  void reduce_table(Container& dict, std::span<const Value> items);  // pg_config, pg_status: unknown keys
  void forget_after(std::uint32_t container_index);

  void read_process_group(Value value, Entry& entry);
  model::ShapesId shapes_of(Value value);
  model::ShapesId intern_shapes(std::span<const std::int64_t> encoded);
  model::SymbolId dtypes_of(Value value);
  model::StackId stack_of(Value value);
  model::SymbolId symbol_of(Value value);
  model::SymbolId ranks_text_of(Value value);

  DumpBuilder& x_builder;
  std::vector<Field> x_fields;  // by symbol; grows with the vocabulary
  std::vector<Container> x_containers;
  std::vector<std::int64_t> x_numbers;
  std::vector<Group> x_groups;
  std::vector<model::GroupStatus> x_status;
  std::vector<model::FrameId> x_frame_scratch;
  std::vector<std::int64_t> x_shape_scratch;
  std::uint32_t x_pinned = 0;       // containers below this index may be named by the memo
  std::size_t x_numbers_floor = 0;  // numbers below this may belong to pinned lists
  std::size_t x_composed = 0;       // bytes, see kMaxComposed
  std::uint64_t x_misfits = 0;
};

}  // namespace unhang::formats::flight_recorder
