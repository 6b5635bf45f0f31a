// SPDX-License-Identifier: Apache-2.0
#include "checks/text_kind.h"

#include <algorithm>

#include "os/content_kind.h"

namespace unhang::checks {
namespace {

// Of a hundred bytes of a text fewer are control characters; of binary data an eighth is.
constexpr std::size_t kControlsInText = 50;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != '\b' &&
         c != '\x1b';
}

// NAME=VALUE and a NUL, again and again. A program may have written its title over the beginning.
bool is_environ(std::string_view bytes) {
  std::size_t assignments = 0, others = 0;
  while (!bytes.empty()) {
    const std::string_view entry = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(entry.size() + 1, bytes.size()));
    if (entry.empty()) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool is_name =
        !name.empty() && name.size() < entry.size() && std::none_of(name.begin(), name.end(), [](char c) {
          const auto byte = static_cast<unsigned char>(c);
          return byte < 0x20 || byte >= 0x7F;
        });
    ++(is_name ? assignments : others);
  }
  return assignments > others;
}

}  // namespace

std::optional<std::string> why_no_text(std::string_view bytes) {
  const bool has_nul = bytes.find('\0') != std::string_view::npos;
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    return "is UTF-16 or UTF-32 text, which nothing reads as variables: iconv -f UTF-16 -t UTF-8 FILE";
  const os::ContentKind kind = os::content_kind(bytes.substr(0, os::kKindBytes));
  if (kind != os::ContentKind::kPlain)
    return "is " + std::string(os::kind_name(kind)) + " data: unpack it and name the file of variables";
  const auto controls = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_control));
  const bool is_binary = has_nul ? !is_environ(bytes) : controls * kControlsInText > bytes.size();
  if (!is_binary) return std::nullopt;
  return "is binary data and no text: name a file with NAME=VALUE or export lines, a systemd unit, a pod "
         "spec, or /proc/PID/environ";
}

}  // namespace unhang::checks
