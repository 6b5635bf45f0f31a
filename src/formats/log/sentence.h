// SPDX-License-Identifier: Apache-2.0
//
// Finds and cuts pieces of a message. All of it works on views, allocates nothing unless it says so, and is
// linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/log/find_text.h"

namespace unhang::formats::log {

inline bool has(std::string_view text, std::string_view literal) {
  return find_text(text, literal) != std::string_view::npos;
}

// What stands behind the first `literal`; nullopt where it is not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view literal);
// What stands before the first `literal`, or all of `text`.
std::string_view before(std::string_view text, std::string_view literal);
// Up to the first of `stops`, or all of `text`.
std::string_view up_to(std::string_view text, std::string_view stops);

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);
// The first word, and the last, where blanks and tabs part words.
std::string_view first_word(std::string_view text);
std::string_view last_word(std::string_view text);
// At most `most` words; more are left out.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most);
// Cut at every `separator`, pieces trimmed; at most `most`.
std::vector<std::string_view> cells_of(std::string_view text, char separator, std::size_t most);

bool is_digit(char c);
bool is_hex(char c);
// A whole text of digits (not empty).
bool all_digits(std::string_view text);

// The whole number with which `text` begins, with or without a sign, behind blanks.
std::optional<std::int64_t> leading_number(std::string_view text);
// The same in hexadecimal, with or without 0x.
std::optional<std::uint64_t> leading_hex(std::string_view text);
// All of `text` as a decimal fraction: "35.15", "1.2e+06", "0".
std::optional<double> whole_fraction(std::string_view text);

// The first PCI address, as printed: "0000:b3:00", "00000000:61:00.0" (4 to 8 digits of domain), or
// "41:00.0" (then with the function, else it could be a time of day). Empty: none.
std::string_view pci_address(std::string_view text);

}  // namespace unhang::formats::log
