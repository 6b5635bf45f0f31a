// SPDX-License-Identifier: Apache-2.0
//
// A reader for data-only pickles, protocols 2 to 5. It knows the opcodes that make numbers, strings, lists,
// tuples and dictionaries; every opcode that names, builds or calls an object is refused with its offset, as
// is everything else.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/opcodes.h"
#include "formats/flight_recorder/pickle_objects.h"
#include "formats/flight_recorder/plain_entries.h"

namespace unhang::formats::flight_recorder {
namespace {

using model::Severity;

// Opcodes that name, build or call something. They are what makes a pickle dangerous.
bool builds_objects(std::uint8_t opcode) {
  switch (opcode) {
    case 'c':   // GLOBAL
    case 'R':   // REDUCE
    case 'b':   // BUILD
    case 'i':   // INST
    case 'o':   // OBJ
    case 'P':   // PERSID
    case 'Q':   // BINPERSID
    case 0x81:  // NEWOBJ
    case 0x82:  // EXT1
    case 0x83:  // EXT2
    case 0x84:  // EXT4
    case 0x92:  // NEWOBJ_EX
    case 0x93:  // STACK_GLOBAL
      return true;
    default:
      return false;
  }
}

class PickleReader {
 public:
  PickleReader(std::string_view bytes, Evidence& evidence)
      : x_begin(bytes.data()),
        x_at(x_begin),
        x_end(x_begin + bytes.size()),
        x_evidence(evidence),
        x_objects(x_builder),
        x_plain(x_builder, x_objects) {}

  void read() {
    x_builder.expect(static_cast<std::size_t>(x_end - x_begin));
    while (run_simple() && step()) {
    }
    const bool complete = x_stopped;
    if (!complete) salvage();
    report_oddities();
    if (x_builder.is_dump()) {
      x_evidence.dumps.push_back(x_builder.finish(complete, false));
    } else if (x_evidence.problems.empty()) {
      problem(Severity::kInfo, "foreign_pickle", "a pickle, but not a Flight Recorder dump; ignored", 0);
    }
  }

 private:
  [[gnu::cold, gnu::noinline]] void problem(Severity severity, std::string code, std::string text,
                                            std::uint64_t bytes_lost) {
    x_evidence.problems.push_back({.severity = severity,
                                   .code = std::move(code),
                                   .text = std::move(text),
                                   .offset = static_cast<std::uint64_t>(x_opcode_at - x_begin),
                                   .bytes_lost = bytes_lost});
  }

  std::uint64_t bytes_left() const { return static_cast<std::uint64_t>(x_end - x_opcode_at); }

  [[gnu::cold, gnu::noinline]] bool refuse(std::string code, std::string text) {
    problem(Severity::kDataLoss, std::move(code), std::move(text), bytes_left());
    return false;
  }

  [[gnu::cold, gnu::noinline]] bool truncated() {
    return refuse("truncated",
                  "the file ends in the middle: its writer was killed, or it was copied while being written; "
                  "what was read before that is used");
  }

  [[gnu::cold, gnu::noinline]] bool ceiling(const char* what) {
    return refuse("too_large",
                  std::string("more ") + what + " than any real dump holds; the rest is not read");
  }

  template <class T>
  bool take(T& out) {
    if (static_cast<std::size_t>(x_end - x_at) < sizeof(T)) return truncated();
    std::memcpy(&out, x_at, sizeof(T));
    static_assert(std::endian::native == std::endian::little,
                  "pickles are little-endian; add a swap for this machine");
    x_at += sizeof(T);
    return true;
  }

  bool push(Value value) {
    if (x_top == x_stack.size()) {
      if (x_top >= kMaxStack) return ceiling("values");
      x_stack.resize(std::max<std::size_t>(1024, x_top * 2));
    }
    x_stack[x_top++] = value;
    return true;
  }

  template <class Length>
  bool take_string(bool is_text) {
    Length length = 0;
    if (!take(length)) return false;
    if (length > static_cast<std::uint64_t>(x_end - x_at)) return truncated();
    const std::string_view text{x_at, static_cast<std::size_t>(length)};
    x_at += text.size();
    if (!is_text) return push(Value{});
    if (text.size() > kMaxString) {
      problem(Severity::kDataLoss, "string_too_long",
              "a string of " + std::to_string(text.size()) + " bytes was dropped", text.size());
      return push(Value{});
    }
    return push(x_objects.string(text));
  }

  template <class Length>
  bool take_long() {
    Length length = 0;
    if (!take(length)) return false;
    if (length > static_cast<std::uint64_t>(x_end - x_at)) return truncated();
    const char* const digits = x_at;
    x_at += length;
    if (length > sizeof(std::int64_t)) return push(Value{});  // beyond 64 bits: no field has such a value
    std::int64_t value = length != 0 && (digits[length - 1] & 0x80) != 0 ? -1 : 0;
    std::memcpy(&value, digits, length);
    return push(PickleObjects::integer(value));
  }

  template <class Number>
  bool take_int() {
    Number number = 0;
    return take(number) && push(PickleObjects::integer(number));
  }

  bool take_float() {
    std::uint64_t bits = 0;
    if (!take(bits)) return false;
    return push(PickleObjects::real(std::bit_cast<double>(__builtin_bswap64(bits))));
  }

  template <class Index>
  bool put() {
    Index index = 0;
    return take(index) && memoise(index);
  }

  bool memoise(std::uint64_t index) {
    if (x_top <= floor()) return underflow();
    if (index >= kMaxMemo) return ceiling("memo slots");
    if (index >= x_memo.size()) {
      x_memo.resize(std::max<std::size_t>(index + 1, std::min(kMaxMemo, x_memo.size() * 2)), unset());
    }
    if (x_memo[index].kind != ValueKind::kUnset) x_slots_refilled = true;
    x_memo[index] = x_stack[x_top - 1];
    x_memo_next = std::max(x_memo_next, index + 1);
    x_objects.pin(x_stack[x_top - 1]);
    return true;
  }

  template <class Index>
  bool get() {
    Index index = 0;
    if (!take(index)) return false;
    if (index >= x_memo.size() || x_memo[index].kind == ValueKind::kUnset) {
      return refuse("bad_memo", "names memo slot " + std::to_string(index) + ", which was never filled");
    }
    return push(x_memo[index]);
  }

  // Nothing below the innermost mark may be popped by other means than closing it.
  std::size_t floor() const { return x_marks.empty() ? 0 : x_marks.back(); }

  [[gnu::cold, gnu::noinline]] bool underflow() {
    return refuse("damaged", "an operation finds nothing to work on: the file is damaged here");
  }

  bool open_container() {
    Value value;
    return x_objects.open_container(value) ? push(value) : ceiling("lists and dictionaries");
  }

  bool mark() {
    if (x_marks.size() >= kMaxDepth) return ceiling("levels of nesting");
    x_marks.push_back(x_top);
    return true;
  }

  // Appends or sets what stands above `from` to the container below it.
  bool fill(std::size_t from, bool is_dict) {
    if (from == 0 || from - 1 < floor()) return underflow();
    const Value target = x_stack[from - 1];
    const std::span<const Value> items{x_stack.data() + from, x_top - from};
    if (is_dict) {
      x_objects.set_items(target, items);
    } else if (!x_objects.append(target, items)) {
      return ceiling("list elements");
    }
    x_top = from;
    return true;
  }

  bool close(bool is_dict) {
    if (x_marks.empty()) return underflow();
    const std::size_t from = x_marks.back();
    x_marks.pop_back();
    return fill(from, is_dict);
  }

  bool add_one(bool is_dict) {
    const std::size_t items = is_dict ? 2 : 1;
    if (x_top < floor() + items + 1) return underflow();
    return fill(x_top - items, is_dict);
  }

  bool tuple(std::size_t from) {
    Value value;
    if (!x_objects.open_container(value)) return ceiling("tuples");
    if (!x_objects.append(value, {x_stack.data() + from, x_top - from})) return ceiling("tuple elements");
    x_top = from;
    return push(value);
  }

  bool tuple_of(std::size_t items) {
    if (x_top < floor() + items) return underflow();
    return tuple(x_top - items);
  }

  bool tuple_from_mark() {
    if (x_marks.empty()) return underflow();
    const std::size_t from = x_marks.back();
    x_marks.pop_back();
    return tuple(from);
  }

  bool protocol() {
    std::uint8_t version = 0;
    if (!take(version)) return false;
    if (version < 2 || version > 5) {
      return refuse("unknown_protocol", "pickle protocol " + std::to_string(version) + " (2 to 5 are read)");
    }
    return true;
  }

  [[gnu::cold, gnu::noinline]] bool stop() {
    x_stopped = true;
    if (x_at != x_end) {
      x_opcode_at = x_at;
      problem(Severity::kInfo, "trailing_bytes",
              std::to_string(x_end - x_at) + " bytes follow the end of the dump",
              static_cast<std::uint64_t>(x_end - x_at));
    }
    return false;
  }

  [[gnu::cold, gnu::noinline]] bool unknown(std::uint8_t opcode) {
    constexpr char kHex[] = "0123456789abcdef";
    const std::string name = std::string("0x") + kHex[opcode >> 4] + kHex[opcode & 15];
    if (builds_objects(opcode)) {
      return refuse("refused_opcode", "opcode " + name +
                                          " would build or call an object: refused, nothing was executed; "
                                          "no Flight Recorder writes this, treat the file as hostile");
    }
    return refuse("unknown_opcode",
                  "opcode " + name + " is none that a dump can hold: the file is damaged here");
  }

  static Value unset() {
    Value value;
    value.kind = ValueKind::kUnset;
    return value;
  }

  bool run_simple();
  bool step();
  void salvage();
  void report_oddities();

  const char* x_begin;
  const char* x_at;
  const char* x_end;
  const char* x_opcode_at = nullptr;
  Evidence& x_evidence;
  DumpBuilder x_builder;
  PickleObjects x_objects;
  PlainEntries x_plain;
  bool x_slots_refilled = false;  // the same bytes may mean another thing now
  std::vector<Value> x_stack;     // x_top of them are in use
  std::size_t x_top = 0;
  std::vector<std::size_t> x_marks;  // at most kMaxDepth
  std::vector<Value> x_memo;
  std::uint64_t x_memo_next = 0;
  bool x_stopped = false;
};

// Opcodes that only push a value: most of them. Kept apart from step() so that the loop stays in registers;
// stops, without having taken anything, at the first opcode that needs more care. Always true.
bool PickleReader::run_simple() {
  constexpr std::ptrdiff_t kLongest = 10;  // opcode and operand
  const char* at = x_at;
  Value* top = x_stack.data() + x_top;
  const Value* const stack_end = x_stack.data() + x_stack.size();
  const Value* const memo = x_memo.data();
  const std::size_t memo_size = x_memo.size();
  const auto operand = [&at]<class T>(T value) {
    std::memcpy(&value, at + 1, sizeof value);
    return value;
  };
  while (x_end - at >= kLongest && top != stack_end) {
    switch (static_cast<std::uint8_t>(*at)) {
      case kBinGet: {
        do {  // stacks are long runs of these
          const auto index = static_cast<std::uint8_t>(at[1]);
          if (index >= memo_size || memo[index].kind == ValueKind::kUnset) goto careful;
          *top++ = memo[index];
          at += 2;
        } while (x_end - at >= kLongest && top != stack_end && *at == kBinGet);
        continue;
      }
      case kLongBinGet:
        do {
          const auto index = operand(std::uint32_t{});
          if (index >= memo_size || memo[index].kind == ValueKind::kUnset) goto careful;
          *top++ = memo[index];
          at += 5;
        } while (x_end - at >= kLongest && top != stack_end && *at == kLongBinGet);
        continue;
      case kBinInt1:
        *top++ = PickleObjects::integer(operand(std::uint8_t{}));
        at += 2;
        continue;
      case kBinInt2:
        *top++ = PickleObjects::integer(operand(std::uint16_t{}));
        at += 3;
        continue;
      case kBinInt:
        *top++ = PickleObjects::integer(operand(std::int32_t{}));
        at += 5;
        continue;
      case kLong1:
        if (at[1] != 8) goto careful;
        {
          std::int64_t value = 0;
          std::memcpy(&value, at + 2, sizeof value);
          *top++ = PickleObjects::integer(value);
        }
        at += 10;
        continue;
      case kMark:
        if (x_marks.size() >= kMaxDepth) goto careful;
        x_marks.push_back(static_cast<std::size_t>(top - x_stack.data()));
        ++at;
        continue;
      case kEmptyDict:
        if (!x_marks.empty() && !x_slots_refilled) {
          if (const char* const after = x_plain.read(at, x_end, x_memo)) {
            *top++ = PickleObjects::entry();
            at = after;
            continue;
          }
        }
        [[fallthrough]];
      case kEmptyList:
        if (!x_objects.open_container(*top)) goto careful;
        ++top;
        ++at;
        continue;
      case kNone:
        *top++ = Value{};
        ++at;
        continue;
      case kNewTrue:
      case kNewFalse:
        *top++ = PickleObjects::boolean(static_cast<std::uint8_t>(*at) == kNewTrue);
        ++at;
        continue;
      default:
        goto careful;
    }
  }
careful:
  x_at = at;
  x_top = static_cast<std::size_t>(top - x_stack.data());
  return true;
}

// One opcode. False: the end, or nothing more can be read.
bool PickleReader::step() {
  x_opcode_at = x_at;
  if (x_at == x_end) return truncated();
  const auto opcode = static_cast<std::uint8_t>(*x_at++);
  switch (opcode) {
    case kBinGet:
      return get<std::uint8_t>();
    case kLongBinGet:
      return get<std::uint32_t>();
    case kBinInt1:
      return take_int<std::uint8_t>();
    case kBinInt2:
      return take_int<std::uint16_t>();
    case kBinInt:
      return take_int<std::int32_t>();
    case kLong1:
      return take_long<std::uint8_t>();
    case kLong4:
      return take_long<std::uint32_t>();
    case kMark:
      return mark();
    case kEmptyList:
    case kEmptyTuple:
    case kEmptyDict:
      return open_container();
    case kAppends:
      return close(false);
    case kSetItems:
      return close(true);
    case kAppend:
      return add_one(false);
    case kSetItem:
      return add_one(true);
    case kTuple1:
      return tuple_of(1);
    case kTuple2:
      return tuple_of(2);
    case kTuple3:
      return tuple_of(3);
    case kTuple:
      return tuple_from_mark();
    case kNone:
      return push(Value{});
    case kNewTrue:
      return push(PickleObjects::boolean(true));
    case kNewFalse:
      return push(PickleObjects::boolean(false));
    case kBinFloat:
      return take_float();
    case kBinUnicode:
      return take_string<std::uint32_t>(true);
    case kShortBinUnicode:
      return take_string<std::uint8_t>(true);
    case kBinUnicode8:
      return take_string<std::uint64_t>(true);
    case kBinBytes:
      return take_string<std::uint32_t>(false);
    case kShortBinBytes:
      return take_string<std::uint8_t>(false);
    case kBinBytes8:
      return take_string<std::uint64_t>(false);
    case kBinPut:
      return put<std::uint8_t>();
    case kLongBinPut:
      return put<std::uint32_t>();
    case kMemoize:
      return memoise(x_memo_next);
    case kProto:
      return protocol();
    case kFrame: {
      std::uint64_t length = 0;
      return take(length);
    }
    case kStop:
      return stop();
    default:
      return unknown(opcode);
  }
}

// The file ended early: the root dictionary is still open at the bottom of the stack, and what it held so far
// counts.
void PickleReader::salvage() {
  if (x_marks.empty() || x_marks.front() == 0) return;
  const std::size_t from = x_marks.front();
  const std::size_t to = x_marks.size() > 1 ? x_marks[1] : x_top;
  x_objects.salvage_root({x_stack.data() + from, to - from});
}

void PickleReader::report_oddities() {
  if (x_objects.misfits() == 0) return;
  x_opcode_at = x_begin;
  problem(Severity::kError, "unexpected_values",
          std::to_string(x_objects.misfits()) + " values are not what the schema says; they were read over",
          0);
}

}  // namespace

bool sniff_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<std::uint8_t>(bytes[0]) == kProto && bytes[1] >= 2 && bytes[1] <= 5;
}

void parse_pickle(std::string_view bytes, Evidence& evidence) {
  PickleReader(bytes, evidence).read();
}

}  // namespace unhang::formats::flight_recorder
