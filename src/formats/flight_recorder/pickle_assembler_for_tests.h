// SPDX-License-Identifier: Apache-2.0
//
// Pickles by hand, opcode by opcode, for tests of the reader:
//
//   PickleAssembler().proto(2).dict().mark().text("version").text("2.10").set_items().stop().bytes()
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace unhang::formats::flight_recorder {

class PickleAssembler {
 public:
  PickleAssembler& op(int code) { return raw(std::string(1, static_cast<char>(code))); }
  PickleAssembler& raw(std::string_view more) {
    x_bytes += more;
    return *this;
  }
  PickleAssembler& proto(int version) { return op(0x80).op(version); }
  PickleAssembler& frame(std::uint64_t length) { return op(0x95).number(length, 8); }

  PickleAssembler& dict() { return op('}'); }
  PickleAssembler& list() { return op(']'); }
  PickleAssembler& empty_tuple() { return op(')'); }
  PickleAssembler& mark() { return op('('); }
  PickleAssembler& set_items() { return op('u'); }
  PickleAssembler& set_item() { return op('s'); }
  PickleAssembler& appends() { return op('e'); }
  PickleAssembler& append() { return op('a'); }
  PickleAssembler& tuple() { return op('t'); }
  PickleAssembler& tuple1() { return op(0x85); }
  PickleAssembler& tuple2() { return op(0x86); }
  PickleAssembler& tuple3() { return op(0x87); }
  PickleAssembler& stop() { return op('.'); }

  PickleAssembler& none() { return op('N'); }
  PickleAssembler& truth(bool value) { return op(value ? 0x88 : 0x89); }
  PickleAssembler& int1(std::uint8_t value) { return op('K').number(value, 1); }
  PickleAssembler& int2(std::uint16_t value) { return op('M').number(value, 2); }
  PickleAssembler& int4(std::int32_t value) { return op('J').number(static_cast<std::uint32_t>(value), 4); }
  PickleAssembler& long1(std::int64_t value, int bytes = 8) {
    return op(0x8a).op(bytes).number(static_cast<std::uint64_t>(value), bytes);
  }
  PickleAssembler& long4(std::int64_t value, int bytes) {
    return op(0x8b)
        .number(static_cast<std::uint64_t>(bytes), 4)
        .number(static_cast<std::uint64_t>(value), bytes);
  }
  PickleAssembler& real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    op('G');
    for (int shift = 56; shift >= 0; shift -= 8) op(static_cast<int>(bits >> shift & 0xff));
    return *this;
  }
  PickleAssembler& text(std::string_view value) { return op('X').number(value.size(), 4).raw(value); }
  PickleAssembler& short_text(std::string_view value) { return op(0x8c).number(value.size(), 1).raw(value); }
  PickleAssembler& text8(std::string_view value) { return op(0x8d).number(value.size(), 8).raw(value); }
  PickleAssembler& data(std::string_view value) { return op('B').number(value.size(), 4).raw(value); }
  PickleAssembler& short_data(std::string_view value) { return op('C').number(value.size(), 1).raw(value); }
  PickleAssembler& data8(std::string_view value) { return op(0x8e).number(value.size(), 8).raw(value); }

  PickleAssembler& put(std::uint8_t slot) { return op('q').number(slot, 1); }
  PickleAssembler& long_put(std::uint32_t slot) { return op('r').number(slot, 4); }
  PickleAssembler& get(std::uint8_t slot) { return op('h').number(slot, 1); }
  PickleAssembler& long_get(std::uint32_t slot) { return op('j').number(slot, 4); }
  PickleAssembler& memoize() { return op(0x94); }

  // Little-endian, as all of a pickle's integers.
  PickleAssembler& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int negative = value >> 63 != 0 ? 0xff : 0;
      op(i < 8 ? static_cast<int>(value >> (8 * i) & 0xff) : negative);
    }
    return *this;
  }

  const std::string& bytes() const { return x_bytes; }
  std::size_t size() const { return x_bytes.size(); }

 private:
  std::string x_bytes;
};

}  // namespace unhang::formats::flight_recorder
