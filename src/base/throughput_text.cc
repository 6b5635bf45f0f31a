// SPDX-License-Identifier: Apache-2.0
#include "base/throughput_text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace unhang::base {
namespace {

struct Unit {
  std::string_view printed, name;
  bool is_time = false;  // seconds for one: the other way round
};
// A longer one before those that it begins with.
constexpr std::array<Unit, 17> kUnits{{{"tokens/sec", "tokens/s"},
                                       {"tokens/s", "tokens/s"},
                                       {"tok/s", "tokens/s"},
                                       {"toks/s", "tokens/s"},
                                       {"samples/sec", "samples/s"},
                                       {"samples/s", "samples/s"},
                                       {"images/sec", "images/s"},
                                       {"images/s", "images/s"},
                                       {"img/s", "images/s"},
                                       {"steps/s", "steps/s"},
                                       {"requests/s", "requests/s"},
                                       {"req/s", "requests/s"},
                                       {"iterations/s", "it/s"},
                                       {"iter/s", "it/s"},
                                       {"it/s", "it/s"},
                                       {"s/iter", "it/s", true},
                                       {"s/it", "it/s", true}}};
constexpr std::string_view kBusBandwidth = "Avg bus bandwidth";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() || value < 0) return std::nullopt;
  return value;
}

// The number that ends right before `end`, with at most two blanks in between: "12.5 tokens/s".
std::optional<double> number_before(std::string_view line, std::size_t end) {
  for (int blanks = 0; blanks < 2 && end > 0 && line[end - 1] == ' '; ++blanks) --end;
  std::string digits;
  constexpr std::size_t kLongest = 24;
  while (end > 0 && digits.size() < kLongest) {
    const char c = line[end - 1];
    if (c != ',' && c != '.' && !is_digit(c)) break;
    if (c != ',') digits += c;  // "1,234.5"
    --end;
  }
  std::reverse(digits.begin(), digits.end());
  return number_of(digits);
}

// "generation throughput (token/s): 73.9": SGLang's and Megatron's way, the number behind the unit.
std::optional<double> number_behind(std::string_view line, std::size_t at) {
  while (at < line.size() && (line[at] == ')' || line[at] == ':' || line[at] == '=' || line[at] == ' ')) ++at;
  return number_of(line.substr(at));
}

std::optional<Throughput> of_line(std::string_view line) {
  if (const std::size_t at = line.find(kBusBandwidth); at != std::string_view::npos) {
    const std::size_t colon = line.find(':', at);
    if (colon != std::string_view::npos) {
      if (const auto value = number_behind(line, colon)) return Throughput{*value, "GB/s busbw"};
    }
  }
  std::optional<Throughput> found;
  for (std::size_t at = 0; (at = line.find('/', at)) != std::string_view::npos; ++at) {
    for (const Unit& unit : kUnits) {
      const std::size_t slash = unit.printed.find('/');
      if (at < slash || line.substr(at - slash, unit.printed.size()) != unit.printed) continue;
      const std::size_t begin = at - slash, end = begin + unit.printed.size();
      if ((begin > 0 && is_letter(line[begin - 1])) || (end < line.size() && is_letter(line[end]))) continue;
      auto value = number_before(line, begin);
      if (!value && end < line.size() && (line[end] == ')' || line[end] == ':'))
        value = number_behind(line, end);
      if (!value || (unit.is_time && *value == 0)) continue;
      found = {unit.is_time ? 1 / *value : *value, std::string(unit.name)};
      break;
    }
  }
  return found;
}

}  // namespace

std::optional<Throughput> last_throughput(std::string_view text) {
  while (!text.empty()) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    // A progress bar writes its line again and again, each behind a carriage return.
    const std::size_t begin = text.find_last_of("\r\n") + 1;  // npos + 1 is 0
    if (auto found = of_line(text.substr(begin))) return found;
    text = text.substr(0, begin);
  }
  return std::nullopt;
}

}  // namespace unhang::base
