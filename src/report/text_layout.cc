// SPDX-License-Identifier: Apache-2.0
#include "report/text_layout.h"

#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "base/rank_set.h"

namespace unhang::report {
namespace {

// The code point at the start of `text`, which is not empty and valid UTF-8 (one_line makes it so; what is
// not counts as one column a byte).
struct Decoded {
  char32_t code;
  std::size_t bytes;
};

Decoded decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes == 1 || text.size() < bytes) return {lead, 1};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {code, bytes};
}

struct Range {
  char32_t first, last;
};

bool in_any(std::span<const Range> ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

int columns_of(char32_t code) {
  static constexpr Range kCombining[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},
                                         {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},
                                         {0xFE20, 0xFE2F}};
  static constexpr Range kWide[] = {
      {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97C}, {0xAC00, 0xD7A3},
      {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
      {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  if (code < 0x300) return 1;
  return in_any(kCombining, code) ? 0 : in_any(kWide, code) ? 2 : 1;
}

// Bytes of the longest beginning of `text` (one line) that is at most `width` columns.
std::size_t prefix_bytes(std::string_view text, int width) {
  std::size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const Decoded next = decode(text.substr(at));
    used += columns_of(next.code);
    if (used > width) break;
    at += next.bytes;
  }
  return at;
}

// Where to break a word that is too long for `width` columns: at least one code point, so that it ends.
std::size_t break_point(std::string_view word, int width) {
  const std::size_t most = std::max(prefix_bytes(word, width), decode(word).bytes);
  const std::size_t soft = word.substr(0, most).find_last_of("/,-_.:");
  return soft != std::string_view::npos && soft + 1 > most / 2 ? soft + 1 : most;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string blanks(text);
  for (char& c : blanks) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return base::printable(blanks);
}

int columns(std::string_view text) {
  int total = 0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    total += columns_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return total;
}

std::vector<std::string> wrap(std::string_view raw, int width, int taken) {
  width = std::max(width, 1);
  const std::string text = one_line(raw);
  std::vector<std::string> lines(1);
  int used = std::min(taken, width);
  bool fresh = true;  // nothing of our own on the line yet
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::string_view word = std::string_view(text).substr(at, end - at);
    at = end;
    while (!word.empty()) {
      const int gap = fresh ? 0 : 1;
      const int size = columns(word);
      if (used + gap + size <= width) {
        lines.back().append(gap, ' ').append(word);
        used += gap + size;
        fresh = false;
        break;
      }
      if (fresh && used <= 0) {
        const std::size_t bytes = break_point(word, width - used);
        lines.back().append(word.substr(0, bytes));
        word.remove_prefix(bytes);
        if (word.empty()) {  // one character wider than the line
          used = width;
          fresh = false;
          break;
        }
      }
      lines.emplace_back();
      used = 0;
      fresh = true;
    }
  }
  return lines;
}

std::string cut(std::string_view raw, int width) {
  std::string text = one_line(raw);
  if (columns(text) <= width) return text;
  if (width <= 0) return {};
  text.resize(prefix_bytes(text, width - 1));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "…";
}

std::string cut_front(std::string_view raw, int width) {
  std::string text = one_line(raw);
  const int total = columns(text);
  if (total <= width) return text;
  if (width <= 0) return {};
  std::string_view rest = text;
  for (int left = total; left > width - 1 && !rest.empty();) {
    const Decoded next = decode(rest);
    left -= columns_of(next.code);
    rest.remove_prefix(next.bytes);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos && slash < rest.size() / 2) {
    rest.remove_prefix(slash);
  }
  return "…" + std::string(rest);
}

std::string fold_within(std::span<const std::int32_t> ranks, int width) {
  std::string folded = base::fold_ranks(ranks);
  if (columns(folded) <= width) return folded;
  struct Prefix {
    std::size_t bytes, ranks;
  };
  std::vector<Prefix> prefixes;
  std::size_t total = 0;
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t end = std::min(folded.find(',', at), folded.size());
    const auto item = base::parse_ranks(std::string_view(folded).substr(at, end - at));
    total += item ? item->size() : 1;
    prefixes.push_back({end, total});
    at = end + 1;
  }
  for (std::size_t i = prefixes.size(); i-- > 0;) {
    if (prefixes[i].bytes > static_cast<std::size_t>(std::max(width, 0)))
      continue;  // digits: a byte is a column
    std::string text = folded.substr(0, prefixes[i].bytes) + " … (+" +
                       grouped(static_cast<std::int64_t>(total - prefixes[i].ranks)) + " more)";
    if (columns(text) <= width) return text;
  }
  return cut(counted(total, "rank", "ranks"), width);
}

std::string join_within(const std::vector<std::string>& items, std::string_view separator, int width) {
  std::vector<std::string> clean;
  for (const std::string& item : items) clean.push_back(one_line(item));
  std::string all;
  std::vector<std::size_t> ends;
  for (const std::string& item : clean) {
    if (!ends.empty()) all += separator;
    all += item;
    ends.push_back(all.size());
  }
  if (columns(all) <= width) return all;
  for (std::size_t shown = ends.size(); shown-- > 1;) {
    if (ends[shown - 1] > 4 * static_cast<std::size_t>(std::max(width, 0)))
      continue;  // no code point has more bytes
    std::string text = all.substr(0, ends[shown - 1]) + " … (+" +
                       grouped(static_cast<std::int64_t>(ends.size() - shown)) + " more)";
    if (columns(text) <= width) return text;
  }
  if (clean.size() < 2) return cut(all, width);
  const std::string rest = " (+" + grouped(static_cast<std::int64_t>(clean.size() - 1)) + " more)";
  return cut(clean.front(), width - columns(rest)) + rest;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(std::size_t number, std::string_view singular, std::string_view plural) {
  return grouped(static_cast<std::int64_t>(number)).append(" ").append(number == 1 ? singular : plural);
}

std::string markdown_text(std::string_view raw) {
  const std::string text = one_line(raw);
  const auto is_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word = c == '_' && i > 0 && is_word(i - 1) && is_word(i + 1);
    const bool always = std::string_view("\\`*_[<|~&").find(c) != std::string_view::npos;
    const bool at_start = i == 0 && std::string_view("#>+-=").find(c) != std::string_view::npos;
    if ((always && !inside_word) || at_start) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_code(std::string_view raw, bool in_table) {
  const std::string text = one_line(raw);
  if (text.empty()) return {};
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string inside;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && in_table) inside += '\\';
    inside += c;
  }
  // The marks around code must be a longer run of backquotes than any inside; a blank keeps them apart.
  const std::string marks(longest + 1, '`');
  const std::string gap = longest > 0 ? " " : "";
  return marks + gap + inside + gap + marks;
}

}  // namespace unhang::report
