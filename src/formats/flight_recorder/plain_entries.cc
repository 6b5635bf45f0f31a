// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/plain_entries.h"

#include <bit>
#include <cstring>
#include <string>

#include "formats/flight_recorder/opcodes.h"

namespace unhang::formats::flight_recorder {
namespace {

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Longer lists of types are left to the full reader, which keeps account of them.
constexpr std::size_t kLongestTypes = 1024;

std::uint8_t opcode(const char* at) {
  return static_cast<std::uint8_t>(*at);
}

}  // namespace

// The value that a memo slot holds; null when the next opcode is no filled slot.
[[gnu::always_inline]] inline const Value* PlainEntries::read_get() {
  std::size_t index = 0;
  if (left(2) && opcode(x_at) == kBinGet) {
    index = load<std::uint8_t>(x_at + 1);
    x_at += 2;
  } else if (left(5) && opcode(x_at) == kLongBinGet) {
    index = load<std::uint32_t>(x_at + 1);
    x_at += 5;
  } else {
    return nullptr;
  }
  if (index >= x_memo.size() || x_memo[index].kind == ValueKind::kUnset) return nullptr;
  return &x_memo[index];
}

[[gnu::always_inline]] inline bool PlainEntries::read_number(std::int64_t& out, std::int64_t none) {
  if (!left(10)) return false;  // the longest; an entry never ends a file
  switch (opcode(x_at)) {
    case kBinInt1:
      out = load<std::uint8_t>(x_at + 1);
      x_at += 2;
      return true;
    case kBinInt2:
      out = load<std::uint16_t>(x_at + 1);
      x_at += 3;
      return true;
    case kBinInt:
      out = load<std::int32_t>(x_at + 1);
      x_at += 5;
      return true;
    case kLong1:
      if (x_at[1] != 8) return false;
      out = load<std::int64_t>(x_at + 2);
      x_at += 10;
      return true;
    case kNewTrue:
    case kNewFalse:
      out = opcode(x_at++) == kNewTrue ? 1 : 0;
      return true;
    case kNone:
      out = none;
      ++x_at;
      return true;
    default:
      return false;
  }
}

bool PlainEntries::read_float(float& out) {
  if (!left(9) || opcode(x_at) != kBinFloat) return false;
  out = static_cast<float>(std::bit_cast<double>(__builtin_bswap64(load<std::uint64_t>(x_at + 1))));
  x_at += 9;
  return true;
}

bool PlainEntries::read_symbol(model::SymbolId& out) {
  const Value* value = read_get();
  if (value == nullptr || value->kind != ValueKind::kString) return false;
  out = value->id;
  return true;
}

bool PlainEntries::skip_scalar() {
  std::int64_t number = 0;
  if (read_number(number, 0)) return true;
  const Value* value = read_get();
  return value != nullptr && value->kind != ValueKind::kContainer;
}

bool PlainEntries::read_value(Field field, Entry& entry) {
  std::int64_t number = 0;
  switch (field) {
    case Field::kRecordId:
      return read_number(entry.record_id, -1);
    case Field::kPgId:
      return read_number(entry.pg_id, -1);
    case Field::kSequence:
      return read_number(entry.sequence, -1);
    case Field::kCollectiveSequence:
      return read_number(entry.collective_sequence, -1);
    case Field::kP2pSequence:
      return read_number(entry.p2p_sequence, -1);
    case Field::kOpId:
      return read_number(entry.op_id, -1);
    case Field::kCreated:
      return read_number(entry.created_ns, 0);
    case Field::kStarted:
      return read_number(entry.started_ns, 0);
    case Field::kCompleted:
      return read_number(entry.completed_ns, 0);
    case Field::kTimeout:
      return read_number(entry.timeout_ms, 0);
    case Field::kProfilingName:
      return read_symbol(entry.profiling_name);
    case Field::kState:
      return read_symbol(entry.state);
    case Field::kDuration:
      return read_float(entry.duration_ms);
    case Field::kRetired:
      if (!read_number(number, 0)) return false;
      entry.retired = number != 0;
      return true;
    case Field::kIsP2p:
      if (!read_number(number, 0)) return false;
      entry.is_p2p = number != 0;
      return true;
    case Field::kFrames:
    case Field::kProcessGroup:
    case Field::kInputSizes:
    case Field::kOutputSizes:
    case Field::kInputDtypes:
    case Field::kOutputDtypes:
      return read_list(field, entry);
    default:
      return skip_scalar();
  }
}

bool PlainEntries::read_list(Field field, Entry& entry) {
  const Seen* seen = nullptr;
  switch (field) {
    case Field::kFrames:
      seen = recall(x_stacks, [this](Seen& out) { return parse_stack(out); });
      break;
    case Field::kProcessGroup:
      seen = recall(x_groups, [this](Seen& out) { return parse_group(out); });
      break;
    case Field::kInputSizes:
    case Field::kOutputSizes:
      seen = recall(x_shapes, [this](Seen& out) { return parse_shapes(out); });
      break;
    default:
      seen = recall(x_dtypes, [this](Seen& out) { return parse_dtypes(out); });
      break;
  }
  if (seen == nullptr) return false;
  switch (field) {
    case Field::kFrames:
      entry.stack = seen->id;
      break;
    case Field::kInputSizes:
      entry.input_shapes = seen->id;
      break;
    case Field::kOutputSizes:
      entry.output_shapes = seen->id;
      break;
    case Field::kInputDtypes:
      entry.input_dtypes = seen->id;
      break;
    case Field::kOutputDtypes:
      entry.output_dtypes = seen->id;
      break;
    default:
      entry.group_name = seen->id;
      entry.group_description = seen->second_id;
  }
  return true;
}

// The same bytes mean the same thing, since memo slots keep their values: then nothing need be read again.
template <class Parse>
const PlainEntries::Seen* PlainEntries::recall(SeenTable& table, Parse&& parse) {
  if (!left(8)) return nullptr;
  Seen& seen = table[(load<std::uint64_t>(x_at) * 0x9E3779B97F4A7C15U) >> 57];
  const std::size_t known = seen.bytes.size();
  if (known != 0 && left(static_cast<std::ptrdiff_t>(known)) &&
      std::memcmp(x_at, seen.bytes.data(), known) == 0) {
    x_at += known;
    return &seen;
  }
  const char* const begin = x_at;
  Seen fresh;
  if (!parse(fresh)) return nullptr;
  fresh.bytes = {begin, static_cast<std::size_t>(x_at - begin)};
  seen = fresh;
  return &seen;
}

bool PlainEntries::parse_shapes(Seen& out) {
  x_numbers.clear();
  if (!left(2) || opcode(x_at++) != kEmptyList || opcode(x_at++) != kMark) return false;
  while (left(3) && opcode(x_at) == kEmptyList) {
    if (opcode(++x_at) != kMark) return false;
    ++x_at;
    const std::size_t count_at = x_numbers.size();
    x_numbers.push_back(0);
    while (left(1) && opcode(x_at) != kAppends) {
      std::int64_t dimension = 0;
      const bool is_number = opcode(x_at) != kNone && opcode(x_at) != kNewTrue && opcode(x_at) != kNewFalse;
      if (!is_number || !read_number(dimension, 0)) return false;
      x_numbers.push_back(dimension);
    }
    if (!left(1)) return false;
    ++x_at;
    x_numbers[count_at] = static_cast<std::int64_t>(x_numbers.size() - count_at - 1);
  }
  if (!left(1) || opcode(x_at++) != kAppends) return false;
  out.id = x_builder.vocabulary().shapes.intern(x_numbers);
  return true;
}

bool PlainEntries::parse_dtypes(Seen& out) {
  if (!left(2) || opcode(x_at++) != kEmptyList || opcode(x_at++) != kMark) return false;
  std::string joined;
  std::size_t count = 0;
  while (left(1) && opcode(x_at) != kAppends) {
    model::SymbolId symbol = 0;
    if (!read_symbol(symbol)) return false;
    if (count++ != 0) joined += ',';
    joined += x_builder.vocabulary().text(symbol);
    if (joined.size() > kLongestTypes) return false;
  }
  if (!left(1)) return false;
  ++x_at;
  out.id = x_builder.vocabulary().symbols.intern(joined);
  return true;
}

bool PlainEntries::parse_stack(Seen& out) {
  x_frames.clear();
  if (!left(2) || opcode(x_at++) != kEmptyList || opcode(x_at++) != kMark) return false;
  while (left(1) && opcode(x_at) != kAppends) {
    const Value* value = read_get();
    model::FrameId frame = 0;
    if (value == nullptr || !x_objects.frame_of(*value, frame)) return false;
    x_frames.push_back(frame);
  }
  if (!left(1)) return false;
  ++x_at;
  out.id = x_builder.vocabulary().intern_stack(x_frames);
  return true;
}

bool PlainEntries::parse_group(Seen& out) {
  if (!read_symbol(out.id) || !read_symbol(out.second_id)) return false;
  return left(1) && opcode(x_at++) == kTuple2;
}

const char* PlainEntries::read(const char* at, const char* end, std::span<const Value> memo) {
  x_at = at + 1;  // EMPTY_DICT
  x_end = end;
  x_memo = memo;
  if (!left(1) || opcode(x_at++) != kMark) return nullptr;
  if (x_builder.operation_count() >= kMaxOperations) return nullptr;
  Entry entry;
  bool is_entry = false;
  while (left(1) && opcode(x_at) != kSetItems) {
    const Value* key = read_get();
    if (key == nullptr || key->kind != ValueKind::kString) return nullptr;
    const Field field = x_objects.field_of_symbol(key->id);
    is_entry = is_entry || field == Field::kProfilingName;
    if (!read_value(field, entry)) return nullptr;
  }
  if (!left(1) || !is_entry) return nullptr;
  x_builder.add(entry);
  return x_at + 1;
}

}  // namespace unhang::formats::flight_recorder
