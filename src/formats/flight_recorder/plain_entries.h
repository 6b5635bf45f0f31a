// SPDX-License-Identifier: Apache-2.0
//
// The quick way through a ring. After the first few, the entries of a dump look alike: every key, name and
// frame has been seen and is named by a memo slot, and the same stacks and shapes stand there byte for byte.
// Such an entry is read in one go, without building anything; any entry that is not so plain is left to the
// full reader.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/flight_recorder/pickle_objects.h"

namespace unhang::formats::flight_recorder {

class PlainEntries {
 public:
  PlainEntries(DumpBuilder& builder, PickleObjects& objects) : x_builder(builder), x_objects(objects) {}

  // Reads the entry dictionary that starts at `at` (its EMPTY_DICT). Returns where it ends, after SETITEMS,
  // with the operation added to the dump; null, with nothing changed, when it is no entry or not a plain one.
  // `memo` must be the same, but for added slots, at every call.
  const char* read(const char* at, const char* end, std::span<const Value> memo);

 private:
  // What a list of an entry meant when these very bytes were read before.
  struct Seen {
    std::string_view bytes;
    std::uint32_t id = 0;
    std::uint32_t second_id = 0;
  };
  using SeenTable = std::array<Seen, 128>;

  bool read_value(Field field, Entry& entry);
  bool read_number(std::int64_t& out, std::int64_t none);
  bool read_float(float& out);
  bool read_symbol(model::SymbolId& out);
  bool read_list(Field field, Entry& entry);
  bool skip_scalar();
  const Value* read_get();

  template <class Parse>
  const Seen* recall(SeenTable& table, Parse&& parse);
  bool parse_shapes(Seen& out);
  bool parse_dtypes(Seen& out);
  bool parse_stack(Seen& out);
  bool parse_group(Seen& out);

  bool left(std::ptrdiff_t bytes) const { return x_end - x_at >= bytes; }

  DumpBuilder& x_builder;
  PickleObjects& x_objects;
  const char* x_at = nullptr;
  const char* x_end = nullptr;
  std::span<const Value> x_memo;
  SeenTable x_shapes{}, x_dtypes{}, x_stacks{}, x_groups{};
  std::vector<std::int64_t> x_numbers;
  std::vector<model::FrameId> x_frames;
};

}  // namespace unhang::formats::flight_recorder
