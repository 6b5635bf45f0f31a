// SPDX-License-Identifier: Apache-2.0
#include "formats/log/collective_work.h"

#include <string>

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kKeyBytes = 24;
constexpr std::int64_t kElements = 1LL << 53;  // beyond: the product of a shape is not believed

// Letters only, in lower case: "Numel Out" and "**NumelNumOut" are spellings of one field.
std::string plain_key(std::string_view key) {
  std::string plain;
  for (const char c : key.substr(0, 2 * kKeyBytes)) {
    if (c >= 'a' && c <= 'z') plain += c;
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
  }
  return plain;
}

std::int64_t whole_number(std::string_view value) {
  const auto number = number_at(value);
  if (!number || number->value < 0) return -1;
  return number->rest.find_first_not_of(" \t*`") == std::string_view::npos ? number->value : -1;
}

// "[6, 128]": the number of elements.
std::int64_t product(std::string_view shape) {
  const auto open = shape.find('[');
  if (open == shape.npos || shape.find(']', open) == shape.npos) return -1;
  shape = up_to(shape.substr(open + 1), "]");
  std::int64_t elements = 1;
  while (!trimmed(shape).empty()) {
    const auto number = number_at(shape);
    if (!number || number->value < 0) return -1;
    if (number->value != 0 && elements > kElements / number->value) return -1;
    elements *= number->value;
    shape = number->rest;
    const auto comma = shape.find_first_not_of(" \t,");
    shape = comma == shape.npos ? std::string_view() : shape.substr(comma);
  }
  return elements;
}

std::string_view word(std::string_view value) {
  value = trimmed(value);
  std::size_t end = 0;
  const auto belongs = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (end < value.size() && belongs(value[end])) ++end;
  return value.substr(0, end);
}

void take_field(std::string_view field, CollectiveWork& work) {
  std::size_t equals = field.find('=');
  if (equals == field.npos) equals = field.find(':');
  if (equals == field.npos) return;
  const std::string key = plain_key(field.substr(0, equals));
  const std::string_view value = field.substr(equals + 1);
  if (key.starts_with("seq")) {
    work.sequence = whole_number(value);
  } else if (key.starts_with("op")) {
    work.operation = word(value);
  } else if (key.starts_with("numel")) {
    (has(key, "out") ? work.elements_out : work.elements_in) = whole_number(value);
  } else if (key.starts_with("timeout")) {
    work.timeout_ms = whole_number(value);
  } else if (key.starts_with("tensorshape")) {
    work.elements_out = product(value);  // of the first output
  }
}

}  // namespace

std::optional<CollectiveWork> read_collective_work(std::string_view text) {
  const auto inside = behind(text, "WorkNCCL(");
  if (!inside) return std::nullopt;
  CollectiveWork work;
  std::size_t from = 0, at = 0;
  int depth = 0;
  for (; at < inside->size(); ++at) {
    const char c = (*inside)[at];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth-- == 0) break;
    if (c == ',' && depth == 0) {
      take_field(inside->substr(from, at - from), work);
      from = at + 1;
    }
  }
  work.cut = at == inside->size();
  if (work.cut) return work;
  take_field(inside->substr(from, at - from), work);
  if (const auto ran = behind(inside->substr(at), "ran for")) {
    const auto number = number_at(*ran);
    if (number && trimmed(number->rest).starts_with('m')) work.ran_ms = number->value;
  }
  return work;
}

}  // namespace unhang::formats::log
