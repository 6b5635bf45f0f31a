// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/printable.h"

namespace unhang::base {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// Largest first. "µs" exists in two spellings (U+00B5 and U+03BC).
constexpr std::array<Unit, 9> kUnits{{{"d", 86'400'000'000'000},
                                      {"h", 3'600'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"ms", 1'000'000},
                                      {"us", 1'000},
                                      {"\u00b5s", 1'000},
                                      {"\u03bcs", 1'000},
                                      {"ns", 1}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, bool (*accept)(char)) {
  std::size_t length = 0;
  while (length < text.size() && accept(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// whole.fraction × unit without floating point; nullopt when it overflows or is finer than a nanosecond.
std::optional<std::int64_t> scale(std::string_view whole, std::string_view fraction, std::int64_t unit) {
  std::int64_t value = 0;
  for (const char c : whole) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, std::int64_t{c - '0'}, &value)) return std::nullopt;
  }
  if (__builtin_mul_overflow(value, unit, &value)) return std::nullopt;
  std::int64_t place = unit;
  for (const char c : fraction) {
    if (c != '0' && place % 10 != 0) return std::nullopt;
    place /= 10;
    if (c != '0' && place == 0) return std::nullopt;
    if (__builtin_add_overflow(value, (c - '0') * place, &value)) return std::nullopt;
  }
  return value;
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage, fmt::format("'{}' is not a duration: {}", printable(text), why));
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text == "0") return std::chrono::nanoseconds{0};
  if (text.empty()) return refuse(text, "it is empty; write 25s, 2m or 500ms");
  std::string_view rest = text;
  std::int64_t total = 0;
  std::int64_t previous_unit = INT64_MAX;
  while (!rest.empty()) {
    const std::string_view whole = take_while(rest, is_digit);
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      fraction = take_while(rest, is_digit);
      if (fraction.empty()) return refuse(text, "a digit must follow the point");
    }
    if (whole.empty()) return refuse(text, "write a number and its unit, as in 25s, 2m or 500ms");
    const std::string_view name = take_while(rest, [](char c) { return !is_digit(c) && c != '.'; });
    if (name.empty()) return refuse(text, fmt::format("add a unit, as in {}s or {}m", whole, whole));
    const Unit* unit = find_unit(name);
    if (unit == nullptr) return refuse(text, "the units are ns, us, ms, s, m, h and d");
    if (unit->nanoseconds >= previous_unit)
      return refuse(text, "larger units come first, each once, as in 1h30m");
    previous_unit = unit->nanoseconds;
    const std::optional<std::int64_t> part = scale(whole, fraction, unit->nanoseconds);
    if (!part || __builtin_add_overflow(total, *part, &total)) {
      return refuse(text, "it is longer than 292 years or finer than a nanosecond");
    }
  }
  return std::chrono::nanoseconds{total};
}

std::string format_duration(std::chrono::nanoseconds value) {
  if (value.count() == 0) return "0s";
  std::string out;
  auto rest = static_cast<std::uint64_t>(value.count());
  if (value.count() < 0) {
    out = "-";
    rest = std::uint64_t{0} - rest;
  }
  // Days to minutes are whole; what is left is one number in the largest unit that fits, with a decimal
  // fraction.
  for (const Unit& unit : kUnits) {
    const auto size = static_cast<std::uint64_t>(unit.nanoseconds);
    if (rest < size) continue;
    out += fmt::format("{}", rest / size);
    rest %= size;
    if (size <= 1'000'000'000 && rest != 0) {
      std::string fraction = fmt::format("{:0{}}", rest, fmt::formatted_size("{}", size) - 1);
      fraction.erase(fraction.find_last_not_of('0') + 1);
      out += "." + fraction;
      rest = 0;
    }
    out += unit.name;
    if (rest == 0) break;
  }
  return out;
}

}  // namespace unhang::base
