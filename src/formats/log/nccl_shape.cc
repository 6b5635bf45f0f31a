// SPDX-License-Identifier: Apache-2.0
#include "formats/log/nccl_shape.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/log/communicator_lives.h"
#include "formats/log/find_text.h"

namespace unhang::formats::log {
namespace {

// Reads fields one behind the other; once one is another than it should be, everything fails.
class Fields {
 public:
  explicit Fields(std::string_view text) : x_at(text.data()), x_end(text.data() + text.size()) {}

  bool ended() const { return x_good && x_at == x_end; }

  template <std::size_t kSize>
  bool take(const char (&literal)[kSize]) {
    constexpr std::size_t kLength = kSize - 1;
    const bool there =
        static_cast<std::size_t>(x_end - x_at) >= kLength && std::memcmp(x_at, literal, kLength) == 0;
    if (there) x_at += kLength;
    return there;
  }
  template <std::size_t kSize>
  Fields& expect(const char (&literal)[kSize]) {
    x_good = take(literal) && x_good;
    return *this;
  }
  std::string_view letters() {
    const char* const begin = x_at;
    while (x_at != x_end && ((*x_at >= 'a' && *x_at <= 'z') || (*x_at >= 'A' && *x_at <= 'Z'))) ++x_at;
    return word_since(begin);
  }
  Fields& expect_name() {  // "RING", "LL128", "2"
    const char* const begin = x_at;
    while (x_at != x_end && ((*x_at >= 'A' && *x_at <= 'Z') || is_digit(*x_at) || *x_at == '_')) ++x_at;
    word_since(begin);
    return *this;
  }
  Fields& decimal(std::uint64_t& value) {
    const char* const begin = x_at;
    std::uint64_t sum = 0;
    while (x_at != x_end && is_digit(*x_at)) sum = sum * 10 + static_cast<unsigned>(*x_at++ - '0');
    x_good = x_good && x_at != begin && x_at - begin <= 18;
    value = sum;
    return *this;
  }
  Fields& small(std::int32_t& value) {
    constexpr std::uint64_t kMost = 100'000'000;
    std::uint64_t read = 0;
    decimal(read);
    value = read <= kMost ? static_cast<std::int32_t>(read) : -1;
    return *this;
  }
  Fields& hex(std::uint64_t& value) {
    const char* const begin = x_at;
    std::uint64_t sum = 0;
    for (; x_at != x_end; ++x_at) {
      const unsigned digit = kHex[static_cast<unsigned char>(*x_at)];
      if (digit > 15) break;
      sum = sum << 4 | digit;
    }
    x_good = x_good && x_at != begin && x_at - begin <= 16;
    value = sum;
    return *this;
  }
  Fields& pointer(std::uint64_t& value) { return expect("0x").hex(value); }
  Fields& any_pointer() {
    std::uint64_t unused = 0;
    if (!take("(nil)")) pointer(unused);
    return *this;
  }

 private:
  static constexpr std::array<std::uint8_t, 256> kHex = [] {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(255);
    for (unsigned i = 0; i < 10; ++i) digits['0' + i] = static_cast<std::uint8_t>(i);
    for (unsigned i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = static_cast<std::uint8_t>(10 + i);
    return digits;
  }();

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  std::string_view word_since(const char* begin) {
    x_good = x_good && x_at != begin;
    return {begin, static_cast<std::size_t>(x_at - begin)};
  }

  const char* x_at;
  const char* x_end;
  bool x_good = true;
};

// Behind "AllReduce": ": opCount 28c sendbuff 0x… recvbuff (nil) count 512 datatype 7 op 0 root 0 comm 0x…
// [nranks=4] stream 0x…".
bool is_call(Fields in, CallLine& call) {
  CallLine read = call;
  in.expect(": opCount ").hex(read.op_count);
  in.expect(" sendbuff ").any_pointer().expect(" recvbuff ").any_pointer();
  in.expect(" count ").decimal(read.count).expect(" datatype ").small(read.datatype);
  in.expect(" op ").small(read.op).expect(" root ").small(read.root);
  in.expect(" comm ").pointer(read.pointer).expect(" [nranks=").small(read.ranks);
  in.expect("] stream ").any_pointer();
  if (!in.ended() || read.pointer == 0) return false;
  call = read;
  return true;
}

// "2048 Bytes -> Algo 1 proto 2 time 2.525277", and since 2.23 "… -> Algo RING proto SIMPLE
// channel{Lo..Hi}={0..15}" behind the name of the collective.
bool is_tuning(Fields in) {
  std::uint64_t unused = 0;
  in.decimal(unused).expect(" Bytes -> Algo ").expect_name().expect(" proto ").expect_name();
  if (in.take(" time ")) {
    in.decimal(unused).expect(".").decimal(unused);
  } else {
    in.expect(" channel{Lo..Hi}={").decimal(unused).expect("..").decimal(unused).expect("}");
  }
  return in.ended();
}

// A letter more would make room for a keyword.
bool is_collective(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames{"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                                    "Reduce",    "SendRecv",  "Send",          "Recv",
                                                    "AlltoAll",  "AllToAll",  "Gather",        "Scatter"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::optional<KeywordBits> keywords_of_shape(std::string_view message, CallLine& call) {
  if (message.empty()) return {};
  if (message.front() >= '0' && message.front() <= '9') {
    if (is_tuning(Fields(message))) return KeywordBits{0};
    return {};
  }
  Fields in(message);
  const std::string_view name = in.letters();
  if (is_collective(name)) {
    call.kind = name;
    if (is_call(in, call)) return bit(kNcclCall);
    call = {};
    if (in.take(": ") && is_tuning(in)) return KeywordBits{0};
    return {};
  }
  if (CommunicatorLives::begins_phase(message)) {
    // Such a line is known by its beginning; only whether another is glued to it must be searched for.
    if (find_text(message, "NCCL ") != std::string_view::npos) return {};
    return bit(kNcclPhase);
  }
  return {};
}

}  // namespace unhang::formats::log
