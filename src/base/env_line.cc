// SPDX-License-Identifier: Apache-2.0
#include "base/env_line.h"

#include <algorithm>

namespace unhang::base {
namespace {

bool is_bare(char c) {
  constexpr std::string_view kOthers = "_./:,=@%+^-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

std::string doubled(std::string_view text, char character) {
  std::string out;
  for (const char c : text) out.append(c == character ? 2 : 1, c);
  return out;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_bare)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\"'\"'";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string yaml_quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string env_line(EnvForm form, std::string_view name, std::string_view value) {
  const std::string variable(name);
  switch (form) {
    case EnvForm::kExport:
      return "export " + variable + "=" + shell_quoted(value);
    case EnvForm::kPlain: {
      std::string line = variable + "=" + std::string(value);
      std::replace(line.begin(), line.end(), '\n', ' ');
      return line;
    }
    case EnvForm::kSystemd:
      // systemd.exec(5): the whole assignment in double quotes, with C escapes. YAML's are a part of them.
      return "Environment=" + yaml_quoted(variable + "=" + doubled(value, '%'));
    case EnvForm::kKubernetes:
      return "- name: " + variable + "\n  value: " + yaml_quoted(doubled(value, '$'));
    case EnvForm::kCompose:
      return variable + ": " + yaml_quoted(doubled(value, '$'));
    case EnvForm::kComposeList:
      return "- " + yaml_quoted(variable + "=" + doubled(value, '$'));
    case EnvForm::kConfigMap:
      return variable + ": " + yaml_quoted(value);
  }
  return {};
}

std::string env_removal(EnvForm form, std::string_view name) {
  if (form == EnvForm::kExport) return "unset " + std::string(name);
  return "# remove " + std::string(name);
}

}  // namespace unhang::base
