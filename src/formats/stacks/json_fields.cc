// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/json_fields.h"

namespace unhang::formats::stacks {

std::string text_at(const simdjson::dom::object& object, std::string_view key) {
  std::string_view value;
  if (object[key].get_string().get(value)) return {};
  return std::string(value.substr(0, kMaxText));
}

std::int64_t number_at(const simdjson::dom::object& object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = otherwise;
  return object[key].get_int64().get(value) ? otherwise : value;
}

bool flag_at(const simdjson::dom::object& object, std::string_view key) {
  bool value = false;
  return !object[key].get_bool().get(value) && value;
}

}  // namespace unhang::formats::stacks
