// SPDX-License-Identifier: Apache-2.0
//
// Fields of JSON documents that show processes: a value of another type than it should be counts as not
// there, and texts have a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace unhang::formats::stacks {

inline constexpr std::size_t kMaxText = 1024;  // bytes of one name or path; the rest is cut off

std::string text_at(const simdjson::dom::object& object, std::string_view key);
std::int64_t number_at(const simdjson::dom::object& object, std::string_view key, std::int64_t otherwise);
bool flag_at(const simdjson::dom::object& object, std::string_view key);

template <class Visit>
void each_element(const simdjson::dom::object& object, std::string_view key, Visit&& visit) {
  simdjson::dom::array list;
  if (object[key].get_array().get(list)) return;
  for (const simdjson::dom::element item : list) visit(item);
}

template <class Visit>
void each_object(const simdjson::dom::object& object, std::string_view key, Visit&& visit) {
  each_element(object, key, [&](const simdjson::dom::element& item) {
    simdjson::dom::object found;
    if (!item.get_object().get(found)) visit(found);
  });
}

}  // namespace unhang::formats::stacks
