// SPDX-License-Identifier: Apache-2.0
#include "base/address_shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ascii_class.h"

namespace unhang::base {
namespace {

using Octets = std::array<unsigned, 4>;

// "10.0.0.3" from text[at] on; `end` is set behind it.
std::optional<Octets> read_octets(std::string_view text, std::size_t at, std::size_t& end) {
  Octets octets{};
  for (std::size_t part = 0; part < octets.size(); ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return std::nullopt;
    const std::size_t begin = at;
    while (at < text.size() && at - begin < 4 && is_digit(text[at])) {
      octets[part] = octets[part] * 10 + static_cast<unsigned>(text[at++] - '0');
    }
    if (at == begin || octets[part] > 255 || (at - begin > 1 && text[begin] == '0')) return std::nullopt;
  }
  end = at;
  return octets;
}

// The word in front of text[at], beyond blanks, separators and an "is".
std::string word_before(std::string_view text, std::size_t at) {
  for (int words = 0; words < 2; ++words) {
    const std::size_t least = at > 24 ? at - 24 : 0;
    while (at > least && std::string_view(" \t=:'\"(").find(text[at - 1]) != std::string_view::npos) --at;
    const std::size_t end = at;
    while (at > least && is_letter(text[at - 1])) --at;
    std::string word = lower_case(text.substr(at, end - at));
    if (word != "is" && word != "was" && word != "v") return word;
  }
  return {};
}

// Numbers in four parts are versions, too: "NCCL version 2.20.5.1", "libnccl.so.2.20.5.1", "pkg-1.2.3.4".
bool is_version(std::string_view text, std::size_t at, std::size_t end, unsigned first) {
  constexpr std::array<std::string_view, 19> kVersioned{
      "version", "ver",   "release", "revision", "firmware", "fw",    "driver", "nccl",   "rccl",  "cuda",
      "cudnn",   "torch", "ofed",    "python",   "gcc",      "glibc", "rocm",   "plugin", "kernel"};
  const std::string_view before = text.substr(0, at);
  if (before.ends_with(".so.") || before.ends_with("==") || text.substr(end).starts_with(".so")) return true;
  if (end < text.size() && text[end] == '+') return true;
  const bool in_a_name = !before.empty() &&
                         std::string_view("-+_/").find(before.back()) != std::string_view::npos &&
                         !before.ends_with("//");
  if (in_a_name && first < 30 && first != 10) return true;
  const std::string word = word_before(text, at);
  return std::find(kVersioned.begin(), kVersioned.end(), word) != kVersioned.end();
}

std::string dotted(const Octets& octets) {
  std::string out;
  for (const unsigned octet : octets) out += (out.empty() ? "" : ".") + std::to_string(octet);
  return out;
}

bool names_nobody(const Octets& octets) {
  return octets[0] == 127 || octets[0] == 255 || octets == Octets{};
}

AddressShape ipv4_at(std::string_view text, std::size_t at) {
  std::size_t end = 0;
  const auto octets = read_octets(text, at, end);
  if (!octets || (end < text.size() && is_alphanumeric(text[end]))) return {};
  // "1.2.3.4.5" is none; behind "10.0.0.3" the ".1234" of a file name may stand, which is no part of a
  // version.
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    std::size_t more = end + 1;
    while (more < text.size() && more < end + 5 && is_digit(text[more])) ++more;
    if (more - end - 1 <= 3) return {};
  }
  if (at >= 2 && text[at - 1] == '.' && is_digit(text[at - 2]) &&
      digits_at_end(text.substr(at > 6 ? at - 6 : 0, at > 6 ? 5 : at - 1)) <= 3)
    return {};
  if (is_version(text, at, end, (*octets)[0])) return {};
  return {end, NameKind::kAddress, dotted(*octets), names_nobody(*octets)};
}

struct Groups {
  std::vector<std::string_view> texts;
  std::size_t gap = std::string_view::npos;  // how many groups stand in front of "::"
  std::optional<Octets> last;                // in the place of the last two groups
};

// Nullopt: not made of groups of hexadecimal digits with ':' between them.
std::optional<Groups> read_groups(std::string_view run) {
  Groups groups;
  for (std::size_t at = 0; at < run.size();) {
    if (run.substr(at).starts_with("::")) {
      if (groups.gap != std::string_view::npos) return std::nullopt;
      groups.gap = groups.texts.size();
      at += 2;
      if (at == run.size()) break;
    } else if (!groups.texts.empty()) {
      if (run[at] != ':') return std::nullopt;
      ++at;
    }
    const std::size_t end = std::min(run.find(':', at), run.size());
    const std::string_view group = run.substr(at, end - at);
    std::size_t dotted_end = 0;
    if (end == run.size() && group.find('.') != std::string_view::npos) {
      groups.last = read_octets(group, 0, dotted_end);
      if (!groups.last || dotted_end != group.size()) return std::nullopt;
      break;
    }
    if (group.empty() || group.size() > 4 || !std::all_of(group.begin(), group.end(), is_hex_digit))
      return std::nullopt;
    groups.texts.push_back(group);
    at = end;
  }
  return groups;
}

// The eight numbers of an IPv6 address; nullopt: the groups are none.
std::optional<std::array<std::uint16_t, 8>> ipv6_of(const Groups& groups) {
  std::vector<std::uint16_t> numbers;
  for (const std::string_view text : groups.texts) {
    std::uint16_t number = 0;
    for (const char c : text)
      number = static_cast<std::uint16_t>(number * 16 + (is_digit(c) ? c - '0' : to_lower(c) - 'a' + 10));
    numbers.push_back(number);
  }
  if (const auto& o = groups.last) {
    numbers.push_back(static_cast<std::uint16_t>((*o)[0] * 256 + (*o)[1]));
    numbers.push_back(static_cast<std::uint16_t>((*o)[2] * 256 + (*o)[3]));
  }
  const bool has_gap = groups.gap != std::string_view::npos;
  if (numbers.size() > 8 || (has_gap ? numbers.size() == 8 : numbers.size() != 8)) return std::nullopt;
  if (has_gap)
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(groups.gap), 8 - numbers.size(), 0);
  std::array<std::uint16_t, 8> out{};
  std::copy(numbers.begin(), numbers.end(), out.begin());
  return out;
}

// With "::", only what begins like an address in use: "c10::bad" and "ac::add" are words of C++.
bool is_likely(const Groups& groups, const std::array<std::uint16_t, 8>& numbers) {
  if (groups.gap == std::string_view::npos || groups.last) return true;
  if (groups.gap == 0) return groups.texts.size() == 3 && equals_any_case(groups.texts[0], "ffff");
  const unsigned first = numbers[0];
  return groups.texts[0].size() == 4 && ((first >> 13U) == 1 || first >= 0xfc00U) &&
         ((first & 0xfe00U) != 0xfe00U || (first & 0xffc0U) == 0xfe80U || first >= 0xff00U);
}

AddressShape shape_of(const std::array<std::uint16_t, 8>& n, std::size_t end) {
  const bool zeros = std::all_of(n.begin(), n.begin() + 5, [](std::uint16_t number) { return number == 0; });
  if (zeros && n[5] == 0xffff) {  // the same machine as the IPv4 address in it
    const Octets octets{n[6] / 256U, n[6] % 256U, n[7] / 256U, n[7] % 256U};
    return {end, NameKind::kAddress, dotted(octets), names_nobody(octets)};
  }
  std::string canonical;
  for (const std::uint16_t number : n) canonical += std::to_string(number) + ":";
  return {end, NameKind::kAddress, canonical, zeros && n[5] == 0 && n[6] == 0 && n[7] <= 1};
}

AddressShape ipv6_shape(const Groups& groups, std::size_t end) {
  const auto numbers = ipv6_of(groups);
  if (!numbers || !is_likely(groups, *numbers)) return {};
  return shape_of(*numbers, end);
}

AddressShape colons_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 64;  // 20 bytes of an InfiniBand hardware address take 59
  std::size_t end = at;
  while (end < text.size() && end - at < kLongest &&
         (is_hex_digit(text[end]) || text[end] == ':' || text[end] == '.'))
    ++end;
  if (end < text.size() && (is_alphanumeric(text[end]) || text[end] == '_')) return {};
  while (end > at && (text[end - 1] == '.' || (text[end - 1] == ':' && text[end - 2] != ':'))) --end;
  const std::string_view run = text.substr(at, end - at);
  if (std::count(run.begin(), run.end(), ':') < 2) return {};
  const auto groups = read_groups(run);
  if (!groups) return {};
  const auto all_long = [&](std::size_t length) {
    return groups->gap == std::string_view::npos && !groups->last &&
           std::all_of(groups->texts.begin(), groups->texts.end(),
                       [&](std::string_view group) { return group.size() == length; });
  };
  if (all_long(2)) {
    if (groups->texts.size() < 6) return {};
    return {end, NameKind::kMac, lower_case(run), false};
  }
  if (all_long(4) && groups->texts.size() == 4 &&
      std::any_of(run.begin(), run.end(), [](char c) { return is_letter(c); }))
    return {end, NameKind::kGuid, lower_case(run), false};
  return ipv6_shape(*groups, end);
}

// "GPU-1a2b3c4d-…" and its first part alone, as CUDA_VISIBLE_DEVICES takes it.
AddressShape gpu_at(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(at, 4);
  if (head != "GPU-" && head != "MIG-") return {};
  std::size_t end = at + 3;
  for (const std::size_t length : {8, 4, 4, 4, 12}) {
    std::size_t next = end;
    if (next < text.size() && text[next] == '-') {
      ++next;
      const std::size_t begin = next;
      while (next < text.size() && next - begin < length && is_hex_digit(text[next])) ++next;
      if (next - begin != length) next = end;
    }
    if (next == end) break;
    end = next;
  }
  if (end < at + 12 || (end < text.size() && is_alphanumeric(text[end]))) return {};
  return {end, NameKind::kGpu, lower_case(text.substr(at + 4, 8)), false};
}

// Whether the words in front say that a GUID follows: "Node GUID: 0x…", "port_guid=\"0x…\"", "GID 0x…", "sys
// image 0x…".
bool behind_guid_word(std::string_view text, std::size_t at) {
  const std::string word = word_before(text, at);
  return word.ends_with("guid") || word == "gid" || word == "image";
}

// "0x08c0eb0300a1b2c4" and "08c0eb0300a1b2c4" behind such a word; the same as "08c0:eb03:00a1:b2c4".
AddressShape guid_number_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kDigits = 16, kLeast = 8;  // leading zeros are often left out behind 0x
  const bool has_prefix = text.substr(at).starts_with("0x") || text.substr(at).starts_with("0X");
  const std::size_t begin = at + (has_prefix ? 2 : 0);
  std::size_t end = begin;
  while (end < text.size() && end - begin <= kDigits && is_hex_digit(text[end])) ++end;
  const std::size_t digits = end - begin;
  if (digits > kDigits || digits < (has_prefix ? kLeast : kDigits)) return {};
  if (end < text.size() && is_alphanumeric(text[end])) return {};
  if (!behind_guid_word(text, at)) return {};
  std::string number(kDigits - digits, '0');
  number += lower_case(text.substr(begin, digits));
  const bool zero = number.find_first_not_of('0') == std::string::npos;
  for (const std::size_t colon : {12, 8, 4}) number.insert(colon, ":");
  return {end, NameKind::kGuid, number, zero};
}

// "0A00000A:1F90" of /proc/net/tcp: how many digits of an address begin there, 8 or 32; 0: none. They are
// written in capitals.
std::size_t socket_digits_at(std::string_view text, std::size_t at) {
  const auto is_capital_hex = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); };
  std::size_t end = at;
  while (end < text.size() && end - at <= 32 && is_capital_hex(text[end])) ++end;
  const std::size_t digits = end - at;
  if ((digits != 8 && digits != 32) || end >= text.size() || text[end] != ':') return 0;
  std::size_t port = end + 1;
  while (port < text.size() && port - end <= 5 && is_capital_hex(text[port])) ++port;
  const bool is_port = port - end - 1 == 4 && (port == text.size() || !is_alphanumeric(text[port]));
  return is_port ? digits : 0;
}

// The local and the remote address stand side by side: one alone could be anything.
bool is_beside_socket(std::string_view text, std::size_t at, std::size_t digits) {
  const std::size_t behind = at + digits + 5;
  if (behind < text.size() && text[behind] == ' ' && socket_digits_at(text, behind + 1) == digits)
    return true;
  // One that was replaced already is in front of the text, not in it: only the original counts.
  const std::size_t length = digits + 6;
  return at >= length && text[at - 1] == ' ' && socket_digits_at(text, at - length) == digits;
}

// Words of 32 bits as a little-endian machine prints them.
AddressShape socket_address_at(std::string_view text, std::size_t at) {
  const std::size_t digits = socket_digits_at(text, at);
  if (digits == 0 || !is_beside_socket(text, at, digits)) return {};
  std::vector<unsigned> bytes;
  for (std::size_t word = at; word < at + digits; word += 8) {
    for (std::size_t byte = 8; byte > 0; byte -= 2) {
      const auto value = [](char c) { return static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'A' + 10); };
      bytes.push_back(value(text[word + byte - 2]) * 16 + value(text[word + byte - 1]));
    }
  }
  const std::size_t end = at + digits;
  if (bytes.size() == 4) {
    const Octets octets{bytes[0], bytes[1], bytes[2], bytes[3]};
    return {end, NameKind::kAddress, dotted(octets), names_nobody(octets)};
  }
  std::array<std::uint16_t, 8> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::uint16_t>(bytes[2 * i] * 256 + bytes[2 * i + 1]);
  return shape_of(numbers, end);
}

}  // namespace

AddressShape address_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == 'G' || c == 'M') return gpu_at(text, at);
  if (is_digit(c)) {
    AddressShape shape = ipv4_at(text, at);
    if (shape.end != 0) return shape;
  }
  if (is_hex_digit(c)) {
    if (AddressShape shape = guid_number_at(text, at); shape.end != 0) return shape;
    if (AddressShape shape = socket_address_at(text, at); shape.end != 0) return shape;
  }
  if (is_hex_digit(c) || text.substr(at).starts_with("::")) return colons_at(text, at);
  return {};
}

}  // namespace unhang::base
