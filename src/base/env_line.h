// SPDX-License-Identifier: Apache-2.0
//
// A variable of an environment as a line that may be copied into a shell file, a systemd unit, a pod spec or
// a Docker env file: quoted so that the reader gets exactly the value back.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

enum class EnvForm {
  kExport,       // export NAME='a b'            any POSIX shell
  kPlain,        // NAME=a b                     docker --env-file: it knows no quotes; no line breaks
  kSystemd,      // Environment="NAME=a b"       % is doubled: it begins a specifier
  kKubernetes,   // - name: NAME⏎  value: "a b"  two lines; $ is doubled: $(X) would be replaced
  kCompose,      // NAME: "a b"                  below `environment:`; $ is doubled: $X would be replaced
  kComposeList,  // - "NAME=a b"                 the other form of `environment:`; likewise
  kConfigMap,    // NAME: "a b"                  below `data:`; nothing is replaced there
};

std::string env_line(EnvForm form, std::string_view name, std::string_view value);
// The line that takes a variable away, or says in words that its line goes.
std::string env_removal(EnvForm form, std::string_view name);

// 'it'"'"'s' is what a shell reads as it's; words of letters, digits and _./:,=@%+^- stay bare.
std::string shell_quoted(std::string_view text);
// In double quotes with escapes; also valid JSON for ASCII texts.
std::string yaml_quoted(std::string_view text);

}  // namespace unhang::base
