// SPDX-License-Identifier: Apache-2.0
#include "collect/nccl_release.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace unhang::collect {
namespace {

constexpr std::string_view kBanner = "NCCL version ";
constexpr std::string_view kJsonKey = "\"nccl_version\"";

// Takes a number of at most three digits from the front.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const std::size_t most = std::min<std::size_t>(text.size(), 3);
  const auto [end, error] = std::from_chars(text.data(), text.data() + most, value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take_dot(std::string_view& text) {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "2.28.9" at the front of the text, with whatever behind it that is no digit.
std::optional<NcclRelease> dotted(std::string_view text) {
  const auto major = take_number(text);
  if (!major || !take_dot(text)) return std::nullopt;
  const auto minor = take_number(text);
  if (!minor || !take_dot(text)) return std::nullopt;
  const auto patch = take_number(text);
  if (!patch || (!text.empty() && is_digit(text.front()))) return std::nullopt;
  return NcclRelease{*major, *minor, *patch};
}

}  // namespace

std::string NcclRelease::text() const {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::optional<NcclRelease> parse_nccl_release(std::string_view text) {
  if (const auto release = dotted(text)) return release;
  int code = 0;  // NCCL_VERSION(2, 28, 9) is 22809
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 20000 || code > 99999)
    return std::nullopt;
  return NcclRelease{code / 10000, code / 100 % 100, code % 100};
}

std::optional<NcclRelease> release_of_library_name(std::string_view path) {
  constexpr std::string_view kStem = ".so.";
  const std::size_t at = path.rfind(kStem);
  return at == std::string_view::npos ? std::nullopt : dotted(path.substr(at + kStem.size()));
}

std::optional<NcclRelease> release_in_bytes(std::string_view bytes) {
  for (std::size_t at = bytes.find(kBanner); at != std::string_view::npos; at = bytes.find(kBanner, at + 1)) {
    if (const auto release = dotted(bytes.substr(at + kBanner.size(), 16))) return release;
  }
  return std::nullopt;
}

std::optional<NcclRelease> release_of_answer(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  if (const auto release = release_in_bytes(head)) return release;
  const std::size_t key = head.find(kJsonKey);
  if (key == std::string_view::npos) return std::nullopt;
  const std::size_t quote = head.find('"', key + kJsonKey.size());
  return quote == std::string_view::npos ? std::nullopt : dotted(head.substr(quote + 1));
}

}  // namespace unhang::collect
