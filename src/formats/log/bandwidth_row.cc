// SPDX-License-Identifier: Apache-2.0
#include "formats/log/bandwidth_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "formats/log/facts.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kWords = 32;

// nccl-tests/src/common.cu: the names of the types, old and new.
constexpr std::array<std::string_view, 18> kTypes{
    "int8",  "char",   "uint8",    "int32",  "int",    "uint32",   "int64",    "uint64",      "half",
    "float", "double", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2", "float8_e4m3", "float8_e5m2"};

bool is_type(std::string_view word) {
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

bool is_reduction(std::string_view word) {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z';
}

bool is_value(std::string_view word) {
  if (word == "N/A" || word == "nan" || word == "-nan" || word == "inf") return true;
  return whole_fraction(word).has_value();
}

double value_of(std::string_view word) {
  const auto value = whole_fraction(word);
  return value && *value >= 0 && std::isfinite(*value) ? *value : -1;
}

std::int64_t wrong_of(std::string_view word) {
  const auto value = whole_fraction(word);
  if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e18) return -1;
  // Before August 2022 the column was the largest error, "4e-07": no count of wrong values.
  if (*value > 0 && *value < 1) return 0;
  return static_cast<std::int64_t>(*value);
}

bool is_root(std::string_view word) {
  return word == "-1" || (all_digits(word) && word.size() <= 4);
}

// Without the line above the table: is the first value the root? With it the values are 9 or, with -I, 17;
// and no time is -1.
bool has_root(const std::vector<std::string_view>& values) {
  if (values.empty()) return false;
  return values.front() == "-1" || ((values.size() == 9 || values.size() == 17) && is_root(values.front()));
}

// -S: "2026-11-30 06:10:00" behind the values.
void drop_time_stamp(std::vector<std::string_view>& values) {
  const std::size_t n = values.size();
  if (n >= 2 && has(values[n - 1], ":") && has(values[n - 2], "-") && is_digit(values[n - 2].front())) {
    values.resize(n - 2);
  }
}

}  // namespace

std::optional<BandwidthColumns> bandwidth_columns(std::string_view text) {
  if (!has(text, "size") || !has(text, "count") || !has(text, "algbw")) return std::nullopt;
  BandwidthColumns columns;
  columns.known = true;
  columns.reduction = columns.root = columns.wrong = false;
  std::size_t bandwidths = 0;
  for (const std::string_view word : words_of(text, kWords)) {
    if (word == "redop") columns.reduction = true;
    if (word == "root") columns.root = true;
    if (word == "#wrong" || word == "error") columns.wrong = true;
    if (word == "busbw") ++bandwidths;
    if (bandwidths == 1 && word.starts_with("i_")) ++columns.per_iteration;
  }
  return columns;
}

std::optional<BandwidthRowRead> bandwidth_row(std::string_view text, const BandwidthColumns& columns) {
  text = trimmed(text);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const std::vector<std::string_view> words = words_of(text, kWords);
  if (words.size() < 3 || !all_digits(words[0]) || !all_digits(words[1]) || !is_type(words[2]))
    return std::nullopt;
  BandwidthRowRead read;
  model::BandwidthRow& row = read.row;
  const auto bytes = leading_number(words[0]);
  const auto elements = leading_number(words[1]);
  if (!bytes || !elements) return std::nullopt;
  row.bytes = static_cast<std::uint64_t>(*bytes);
  row.elements = static_cast<std::uint64_t>(*elements);
  row.datatype = words[2];
  std::size_t at = 3;
  if (at < words.size() && is_reduction(words[at]) && !is_value(words[at]))
    row.reduction = shown(words[at++]);
  std::vector<std::string_view> values(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  drop_time_stamp(values);
  if (columns.known ? columns.root : has_root(values)) {
    if (!values.empty() && is_root(values.front())) {
      row.root = static_cast<std::int32_t>(*leading_number(values.front()));
      values.erase(values.begin());
    } else if (!values.empty()) {
      return std::nullopt;
    }
  }
  const std::size_t of_a_row = values.size();
  if (!columns.known && of_a_row < 3) return std::nullopt;  // three numbers and a word could be anything
  const std::size_t per_iteration = columns.known ? columns.per_iteration : of_a_row == 16 ? 4 : 0;
  const bool wrong = columns.known ? columns.wrong : true;
  const std::size_t half = 3 + (wrong ? 1 : 0) + per_iteration;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t from = i * half;
    for (std::size_t j = 0; j < half && from + j < values.size(); ++j) {
      if (!is_value(values[from + j])) return std::nullopt;
      if (j == 0) row.time_us[i] = value_of(values[from]);
      if (j == 1) row.algbw[i] = value_of(values[from + 1]);
      if (j == 2) row.busbw[i] = value_of(values[from + 2]);
      if (j == 3 && wrong) row.wrong[i] = wrong_of(values[from + 3]);
    }
  }
  read.cut = of_a_row < 2 * half;
  return read;
}

}  // namespace unhang::formats::log
