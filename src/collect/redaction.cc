// SPDX-License-Identifier: Apache-2.0
#include "collect/redaction.h"

#include <algorithm>

#include "base/redaction.h"
#include "os/process_table.h"

namespace unhang::collect {
namespace {

// "a=1&b&c=2" -> "a=removed&b=removed&c=removed"; a bare word may be a token itself.
std::string without_values(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view part = query.substr(0, end);
    const std::size_t equals = part.find('=');
    if (!out.empty()) out += '&';
    if (equals == std::string_view::npos) {
      out += "removed";
    } else {
      out.append(part.substr(0, equals)).append("=removed");
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return out;
}

}  // namespace

std::string without_secrets(std::string_view url) {
  url = url.substr(0, url.find('#'));
  const std::size_t question = std::min(url.find('?'), url.size());
  std::string_view base = url.substr(0, question);
  std::string out;
  const std::size_t scheme = base.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  out += base.substr(0, host);
  base.remove_prefix(host);
  // A password may hold '/' where it was not escaped: everything up to the last '@' before the path's end
  // could be one.
  const std::size_t at = base.rfind('@');
  if (at != std::string_view::npos) base.remove_prefix(at + 1);
  out += base;
  if (question < url.size()) out.append("?").append(without_values(url.substr(question + 1)));
  return out;
}

std::string without_secrets_in_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (base::may_hold_secret(line)) {
      out += base::redact_line(line);
    } else {
      out += line;
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

const std::vector<std::string>& kept_variables() {
  static const std::vector<std::string> names{"RANK",
                                              "LOCAL_RANK",
                                              "WORLD_SIZE",
                                              "LOCAL_WORLD_SIZE",
                                              "GROUP_RANK",
                                              "NODE_RANK",
                                              "MASTER_ADDR",
                                              "MASTER_PORT",
                                              "SLURM_PROCID",
                                              "SLURM_LOCALID",
                                              "SLURM_NODEID",
                                              "SLURM_NTASKS",
                                              "SLURM_JOB_ID",
                                              "SLURM_RESTART_COUNT",
                                              "OMPI_COMM_WORLD_RANK",
                                              "OMPI_COMM_WORLD_LOCAL_RANK",
                                              "PMI_RANK",
                                              "LWS_WORKER_INDEX",
                                              "LWS_GROUP_SIZE",
                                              "LWS_LEADER_ADDRESS",
                                              "HOSTNAME",
                                              "NODE_NAME",
                                              "POD_NAME",
                                              "POD_NAMESPACE",
                                              "SLURMD_NODENAME",
                                              "JOBSET_NAME",
                                              "JOB_COMPLETION_INDEX",
                                              "RAY_JOB_ID",
                                              "TORCHELASTIC_RUN_ID",
                                              "TORCHELASTIC_RESTART_COUNT",
                                              "INVOCATION_ID",
                                              "CUDA_VISIBLE_DEVICES",
                                              "NVIDIA_VISIBLE_DEVICES",
                                              "HIP_VISIBLE_DEVICES",
                                              "NCCL_*",
                                              "RCCL_*",
                                              "TORCH_NCCL_*",
                                              "TORCH_FR_*",
                                              "TORCH_INCLUDE_STACK_TRACE",
                                              "TORCH_INCLUDE_ONLY_ACTIVE",
                                              "TORCH_DISTRIBUTED_DEBUG"};
  return names;
}

bool may_be_kept(std::string_view variable) {
  if (!os::matches_variable(variable, kept_variables())) return false;
  // Anything with KEY too: a list of what is kept can afford it.
  return !base::sounds_secret(variable) && variable.find("KEY") == std::string_view::npos;
}

}  // namespace unhang::collect
