// SPDX-License-Identifier: Apache-2.0
//
// From a file that sets variables to Environments: shell files with or without export, Docker's --env-file,
// systemd units, /proc/PID/environ, Dockerfiles' ENV lines; pod specs, deployments, LeaderWorkerSets, config
// maps and compose files in YAML or JSON. Nothing is executed: what a shell would expand is marked as not
// known. Only watched variables are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checks/environment.h"

namespace unhang::checks {

struct EnvSources {
  // Containers without a watched variable are left out, unless their command tells an engine.
  std::vector<Environment> environments;
  std::vector<std::string> notes;               // what was not read, and why it may matter
  base::EnvForm form = base::EnvForm::kExport;  // of a fix, where there is no environment
};

// `name` is the file's, for places ("job.env:7"); what it is is told by content. kData where it is no text
// (text_kind.h), or no assignment of any kind stands in it.
base::Result<EnvSources> read_env_text(std::string_view text, const std::string& name);

// The two kinds, for tests.
base::Result<EnvSources> read_env_lines(std::string_view text, const std::string& name);
base::Result<EnvSources> read_env_document(std::string_view text, const std::string& name, bool is_json);

}  // namespace unhang::checks
