// SPDX-License-Identifier: Apache-2.0
//
// Values of the JSON parser into those of the model: a value of another type keeps the default, only broken
// JSON is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "model/ras.h"

namespace unhang::formats::ras {

namespace ondemand = simdjson::ondemand;

using Error = simdjson::error_code;
constexpr std::size_t kMaxDocument = std::size_t{4} << 30;
constexpr std::size_t kMaxString = 1024;
constexpr std::size_t kMaxDevices = 1024;

// A field of the wrong type keeps its default; only broken JSON is an error.
inline bool fatal(Error error) {
  return error != simdjson::SUCCESS && error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR &&
         error != simdjson::NUMBER_OUT_OF_RANGE;
}

inline Error only_fatal(Error error) {
  return fatal(error) ? error : simdjson::SUCCESS;
}

inline Error read_string(ondemand::value value, std::string& out) {
  std::string_view text;
  const Error error = value.get_string().get(text);
  if (!error) out = text.substr(0, kMaxString);
  return only_fatal(error);
}

template <class Number>
inline Error read_integer(ondemand::value value, Number& out) {
  std::int64_t parsed = 0;
  const Error error = value.get_int64().get(parsed);
  if (!error && std::in_range<Number>(parsed)) out = static_cast<Number>(parsed);
  return only_fatal(error);
}

inline Error read_bool(ondemand::value value, bool& out) {
  bool parsed = false;
  const Error error = value.get_bool().get(parsed);
  if (!error) out = parsed;
  return only_fatal(error);
}

inline Error read_count(ondemand::value value, std::optional<std::uint64_t>& out) {
  std::uint64_t parsed = 0;
  const Error error = value.get_uint64().get(parsed);
  if (!error) out = parsed;
  return only_fatal(error);
}

inline Error read_result(ondemand::value value, std::optional<model::NcclResult>& out) {
  std::int64_t parsed = 0;
  const Error error = value.get_int64().get(parsed);
  if (!error) {
    const bool known = parsed >= 0 && parsed <= static_cast<std::int64_t>(model::NcclResult::kTimeout);
    out = known ? static_cast<model::NcclResult>(parsed) : model::NcclResult::kOther;
  }
  return only_fatal(error);
}

// The key without a copy; one with an escape is none of ours and equals none.
inline std::string_view key_of(simdjson::simdjson_result<ondemand::field>& field) {
  ondemand::raw_json_string raw;
  if (field.key().get(raw)) return {};
  const char* const begin = raw.raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\' && end - begin < 64) ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The comparison that every field goes through; its length is known to the compiler.
template <std::size_t N>
bool is(std::string_view key, const char (&word)[N]) {
  return key.size() == N - 1 && std::memcmp(key.data(), word, N - 1) == 0;
}

template <class Visit>
Error each_field(ondemand::object object, Visit&& visit) {
  for (auto field : object) {
    ondemand::value value;
    const std::string_view key = key_of(field);
    if (const Error error = field.value().get(value)) return error;
    if (const Error error = visit(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

// Each field of an object; anything else is read over.
template <class Visit>
Error each_field(ondemand::value value, Visit&& visit) {
  ondemand::object object;
  const Error error = value.get_object().get(object);
  if (error) return only_fatal(error);
  return each_field(object, visit);
}

template <class Visit>
Error each_element(ondemand::value value, Visit&& visit) {
  ondemand::array array;
  const Error not_one = value.get_array().get(array);
  if (not_one) return only_fatal(not_one);
  for (auto element : array) {
    ondemand::value item;
    if (const Error error = element.get(item)) return error;
    if (const Error error = visit(item)) return error;
  }
  return simdjson::SUCCESS;
}

inline Error read_devices(ondemand::value value, std::vector<std::int32_t>& out) {
  return each_element(value, [&](ondemand::value item) {
    std::int32_t device = -1;
    const Error error = read_integer(item, device);
    if (!error && out.size() < kMaxDevices) out.push_back(device);
    return error;
  });
}

}  // namespace unhang::formats::ras
