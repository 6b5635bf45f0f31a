// SPDX-License-Identifier: Apache-2.0
#include "formats/stated_schema.h"

namespace unhang::formats {

bool states_schema(std::string_view bytes, std::string_view stem) {
  constexpr std::string_view kSpace = " \t\r\n", kKey = "\"schema\"";
  constexpr std::size_t kNear = 4096;
  const std::size_t first = bytes.find_first_not_of(kSpace);
  if (first == std::string_view::npos || bytes[first] != '{') return false;
  const std::string_view begin = bytes.substr(first, kNear);
  const std::size_t key = begin.find(kKey);
  if (key == std::string_view::npos) return false;
  std::size_t value = begin.find_first_not_of(kSpace, key + kKey.size());
  if (value == std::string_view::npos || begin[value] != ':') return false;
  value = begin.find_first_not_of(kSpace, value + 1);
  return value != std::string_view::npos && begin.substr(value + 1).starts_with(stem);
}

}  // namespace unhang::formats
