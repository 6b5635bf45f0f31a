// SPDX-License-Identifier: Apache-2.0
#include "collect/fan_out_members.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "collect/redaction.h"
#include "collect/scheduler_source.h"
#include "os/run_program.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;  // some thousand pods
constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

base::Error wrong(std::string text) {
  return {base::ErrorCode::kUsage, std::move(text)};
}

// What is not there, or of another type, is empty.
const Json& at(const Json& object, std::string_view key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}
std::string text_at(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool asks_for_gpus(const Json& container) {
  const Json& limits = at(at(container, "resources"), "limits");
  if (!limits.is_object()) return false;
  return std::any_of(limits.items().begin(), limits.items().end(), [](const auto& item) {
    return item.key().starts_with("nvidia.com/") || item.key().ends_with("/gpu");
  });
}

std::string container_of(const Json& pod) {
  const Json& containers = at(at(pod, "spec"), "containers");
  if (!containers.is_array() || containers.empty()) return {};
  for (const Json& container : containers) {
    if (asks_for_gpus(container)) return text_at(container, "name");
  }
  const std::string stated = text_at(at(at(pod, "metadata"), "annotations"), kDefaultContainer);
  return stated.empty() ? text_at(containers.front(), "name") : stated;
}

base::Result<std::string> ask(const HelperPrograms& programs, std::vector<std::string> words,
                              std::chrono::steady_clock::time_point until) {
  os::ProgramRequest request;
  const std::string name = words.front();
  request.words = std::move(words);
  request.words.front() = os::find_program(name, programs.path);
  if (request.words.front().empty())
    return base::fail(base::ErrorCode::kUnavailable, name + " is not installed here (not found in PATH)");
  request.deadline = until;
  request.max_output = kLongestAnswer;
  request.wake_fd = programs.wake_fd;
  auto reply = os::run_program(request);
  if (!reply) return base::fail(std::move(reply.error()));
  if (reply->well() && !reply->cut) return std::move(reply->output);
  std::string why = reply->timed_out ? "it did not answer in time"
                    : reply->cut     ? "its answer is too long"
                                     : without_secrets_in_text(reply->errors.substr(0, 400));
  while (!why.empty() && (why.back() == '\n' || why.back() == '\r')) why.pop_back();
  return base::fail(base::ErrorCode::kUnavailable,
                    name + " does not say who is to be asked: " + base::printable(why));
}

base::Result<std::vector<Member>> find_pods(const MemberSelection& selection, const HelperPrograms& programs,
                                            std::chrono::steady_clock::time_point until) {
  if (!selection.pod_namespace.empty() && !is_member_name(selection.pod_namespace))
    return base::fail(wrong("--namespace: '" + base::printable(selection.pod_namespace) + "' is no name"));
  std::vector<std::string> words{"kubectl", "get", "pods", "-o", "json", "--selector=" + selection.pods};
  if (!selection.pod_namespace.empty()) words.push_back("--namespace=" + selection.pod_namespace);
  const auto json = ask(programs, std::move(words), until);
  if (!json) return base::fail(json.error());
  auto members = pods_of_json(*json);
  if (!members) return members;
  for (Member& member : *members) {
    if (!selection.pod_namespace.empty()) member.scope = selection.pod_namespace;
  }
  if (members->empty())
    return base::fail(wrong("no pod has the labels '" + base::printable(selection.pods) +
                            "'; look with: kubectl get pods --show-labels (and -n NAMESPACE)"));
  return members;
}

base::Result<std::vector<Member>> find_slurm_nodes(const MemberSelection& selection,
                                                   const HelperPrograms& programs,
                                                   std::chrono::steady_clock::time_point until) {
  if (!is_slurm_job(selection.slurm))
    return base::fail(wrong("--slurm: '" + base::printable(selection.slurm) + "' is no number of a job"));
  const auto text =
      ask(programs, {"squeue", "--noheader", "--states=RUNNING", "--format=%N", "--jobs=" + selection.slurm},
          until);
  if (!text) return base::fail(text.error());
  std::string list = *text;
  std::replace(list.begin(), list.end(), '\n', ',');
  auto names = parse_host_list(list.starts_with('@') ? std::string_view() : std::string_view(list));
  if (!names) return base::fail(std::move(names.error()).with("squeue"));
  if (names->empty())
    return base::fail(
        wrong("the job " + selection.slurm + " does not run on any node; see: squeue -j " + selection.slurm));
  std::vector<Member> members;
  for (std::string& name : *names)
    members.push_back({MemberKind::kSlurmNode, std::move(name), {}, selection.slurm, {}});
  return members;
}

}  // namespace

base::Result<std::vector<Member>> pods_of_json(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  const Json& items = at(root, "items");
  if (!items.is_array())
    return base::fail(base::ErrorCode::kUnavailable, "what kubectl printed is no list of pods");
  std::vector<Member> members;
  for (const Json& pod : items) {
    Member member;
    member.kind = MemberKind::kPod;
    member.name = text_at(at(pod, "metadata"), "name");
    member.scope = text_at(at(pod, "metadata"), "namespace");
    member.container = container_of(pod);
    const bool named = is_member_name(member.name) && is_member_name(member.container) &&
                       (member.scope.empty() || is_member_name(member.scope));
    if (!named)
      return base::fail(base::ErrorCode::kUnavailable, "what kubectl printed has a pod without a name");
    const std::string phase = text_at(at(pod, "status"), "phase");
    if (phase != "Running")
      member.trouble =
          "not asked: the pod is " + (phase.empty() ? "in no known state" : base::printable(phase));
    members.push_back(std::move(member));
    if (members.size() > kMaxMembers)
      return base::fail(wrong("more than " + std::to_string(kMaxMembers) + " pods have these labels"));
  }
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.scope, a.name) < std::tie(b.scope, b.name);
  });
  return members;
}

base::Result<std::vector<Member>> find_members(const MemberSelection& selection,
                                               const HelperPrograms& programs,
                                               std::chrono::steady_clock::time_point until) {
  if (!selection.pods.empty()) return find_pods(selection, programs, until);
  if (!selection.slurm.empty()) return find_slurm_nodes(selection, programs, until);
  auto names = parse_host_list(selection.hosts);
  if (!names) return base::fail(std::move(names.error()));
  if (names->empty()) return base::fail(wrong("--hosts: there is no host in the list"));
  std::vector<Member> members;
  for (std::string& name : *names) members.push_back({MemberKind::kHost, std::move(name), {}, {}, {}});
  return members;
}

}  // namespace unhang::collect
