// SPDX-License-Identifier: Apache-2.0
#include "base/cut_ends.h"

#include <algorithm>

#include "base/ascii_class.h"
#include "base/host_shape.h"

namespace unhang::base {
namespace {

constexpr std::size_t kBound = 197;  // texts are cut at 200 bytes, or up to three before them: UTF-8
constexpr std::size_t kCompared = 190;
constexpr std::size_t kLast = 16;
constexpr std::size_t kLongest = 255;
constexpr std::string_view kEllipsis = "…";

template <typename Is>
std::size_t run_begin(std::string_view text, const Is& is) {
  std::size_t at = text.size();
  while (at > 0 && text.size() - at < kLongest && is(text[at - 1])) --at;
  return at;
}

// "alice@no", "GPU-1a2b", "ip-10-1".
bool is_sure_name(std::string_view name) {
  const std::size_t sign = name.find('@');
  if (sign != std::string_view::npos && sign > 0) return true;
  if (name.starts_with("GPU-") || name.starts_with("MIG-")) return name.size() > 4;
  return name.size() > 3 && equals_any_case(name.substr(0, 3), "ip-") && is_digit(name[3]);
}

// "trainer.prod.ac".
bool has_inner_dot(std::string_view name) {
  if (name.empty() || !is_letter(name.front())) return false;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (dot + 1 < name.size() && is_alphanumeric(name[dot - 1]) && is_letter(name[dot + 1])) return true;
  }
  return false;
}

// Behind a word that it is glued to, an address begins with the first character that is none of the word;
// NCCL writes "remoteGids" and the address without a blank.
std::size_t behind_glued_word(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  if (before.empty() || !(is_alphanumeric(before.back()) || before.back() == '_')) return at;
  if (before.ends_with("Gids")) return at;
  while (at < text.size() && is_alphanumeric(text[at])) ++at;
  return at;
}

// Of digits, hexadecimal ones, dots and colons.
std::size_t number_begin(std::string_view text, CutCertainty certainty) {
  std::size_t at = run_begin(text, [](char c) { return is_hex_digit(c) || c == '.' || c == ':'; });
  const std::string_view before = text.substr(0, at);
  const bool has_prefix =
      (before.ends_with("0x") || before.ends_with("0X")) && (at == 2 || !is_alphanumeric(before[at - 3]));
  at = has_prefix ? at - 2 : behind_glued_word(text, at);
  const std::string_view run = text.substr(at);
  const auto colons = std::count(run.begin(), run.end(), ':');
  const bool has_digit = std::any_of(run.begin(), run.end(), is_digit);
  const bool has_parts = run.find_first_of(".:") != std::string_view::npos && run.size() > 2;
  if (colons >= 2 && run.size() > 3) return at;
  const bool is_found = has_digit && (certainty == CutCertainty::kByLength || has_parts);
  return is_found ? at : text.size();
}

}  // namespace

std::size_t cut_name_begin(std::string_view text, CutCertainty certainty) {
  const std::size_t at = run_begin(text, [](char c) { return is_name_character(c) || c == '@'; });
  const std::string_view name = text.substr(at);
  if (is_sure_name(name) || has_inner_dot(name)) return at;
  return number_begin(text, certainty);
}

void CutEnds::remember(std::string_view text) {
  if (text.ends_with(kEllipsis) || text.size() < kBound) return;  // the mark is found without
  if (cut_name_begin(text, CutCertainty::kByLength) == text.size()) return;
  x_last.emplace(text.substr(text.size() - kLast));
  x_texts.emplace(text.substr(text.size() - kCompared));
}

std::vector<CutEnds::Span> CutEnds::in(std::string_view text) const {
  std::vector<Span> spans;
  const auto add = [&](std::size_t end, std::size_t behind, CutCertainty certainty) {
    const std::size_t begin = cut_name_begin(text.substr(0, end), certainty);
    if (begin < end && (spans.empty() || spans.back().end <= begin)) spans.push_back({begin, behind});
  };
  std::size_t mark = text.find(kEllipsis);
  std::string last, whole;
  const std::size_t first = x_texts.empty() ? text.size() + 1 : kCompared;
  for (std::size_t end = std::min(mark, first); end <= text.size();) {
    if (end == mark) {
      add(end, end + kEllipsis.size(), CutCertainty::kByMark);
      mark = text.find(kEllipsis, end + 1);
    } else if (end >= kCompared && x_last.contains(last.assign(text, end - kLast, kLast)) &&
               x_texts.contains(whole.assign(text, end - kCompared, kCompared))) {
      add(end, end, CutCertainty::kByLength);
    }
    end = std::min(mark, std::max(end + 1, first));
  }
  return spans;
}

}  // namespace unhang::base
