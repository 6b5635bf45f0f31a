// SPDX-License-Identifier: Apache-2.0
#include "formats/log/sentence.h"

#include <charconv>

namespace unhang::formats::log {
namespace {

constexpr std::string_view kBlanks = " \t";

std::size_t hex_run(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_hex(text[end])) ++end;
  return end - at;
}

// "b3:00" or "b3:00.0" at `at`: its length, 0 for anything else. `function`: whether the function is there.
std::size_t bus_and_device(std::string_view text, std::size_t at, bool& function) {
  if (hex_run(text, at) != 2 || at + 2 >= text.size() || text[at + 2] != ':') return 0;
  if (hex_run(text, at + 3) != 2) return 0;
  std::size_t end = at + 5;
  function = end + 1 < text.size() && text[end] == '.' && text[end + 1] >= '0' && text[end + 1] <= '7' &&
             hex_run(text, end + 1) == 1;
  if (function) end += 2;
  return end - at;
}

}  // namespace

std::optional<std::string_view> behind(std::string_view text, std::string_view literal) {
  const std::size_t at = find_text(text, literal);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + literal.size());
}

std::string_view before(std::string_view text, std::string_view literal) {
  return text.substr(0, find_text(text, literal));
}

std::string_view up_to(std::string_view text, std::string_view stops) {
  return text.substr(0, text.find_first_of(stops));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view first_word(std::string_view text) {
  return up_to(trimmed(text), kBlanks);
}

std::string_view last_word(std::string_view text) {
  text = trimmed(text);
  const std::size_t blank = text.find_last_of(kBlanks);
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos && out.size() < most;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return out;
}

std::vector<std::string_view> cells_of(std::string_view text, char separator, std::size_t most) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size() && out.size() < most;) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> leading_hex(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<double> whole_fraction(std::string_view text) {
  if (text.empty() || (!is_digit(text.front()) && text.front() != '-' && text.front() != '.')) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view pci_address(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t digits = hex_run(text, at);
    if (digits == 0) {
      ++at;
      continue;
    }
    const std::size_t end = at + digits;
    bool function = false;
    const bool glued =
        at > 0 && (text[at - 1] == ':' || text[at - 1] == '.') && at > 1 && is_hex(text[at - 2]);
    // "GPU0000:03:00.0": the name is not hexadecimal, so that the digits begin behind it.
    if (!glued && digits >= 4 && digits <= 8 && end < text.size() && text[end] == ':') {
      if (const std::size_t rest = bus_and_device(text, end + 1, function); rest > 0) {
        return text.substr(at, digits + 1 + rest);
      }
    }
    if (!glued && digits == 2) {
      const std::size_t length = bus_and_device(text, at, function);
      if (length > 0 && function) return text.substr(at, length);
    }
    at = end;
  }
  return {};
}

}  // namespace unhang::formats::log
