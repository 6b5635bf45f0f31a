// SPDX-License-Identifier: Apache-2.0
#include "collect/dump_places.h"

#include <algorithm>
#include <charconv>

namespace unhang::collect {
namespace {

constexpr std::string_view kNewVariable = "TORCH_FR_DUMP_TEMP_FILE";  // 2.8 and later
constexpr std::string_view kOldVariable = "TORCH_NCCL_DEBUG_INFO_TEMP_FILE";
constexpr std::string_view kCacheName = "/torch/comm_lib_trace_rank_";

void add_once(std::vector<std::string>& list, std::string text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(std::move(text));
}

std::string value_of(const os::Process& process, std::string_view name) {
  const std::string* value = process.variable(name);
  return value == nullptr ? std::string() : *value;
}

}  // namespace

const std::vector<std::string>& dump_variables() {
  static const std::vector<std::string> names{std::string(kNewVariable), std::string(kOldVariable), "HOME",
                                              "XDG_CACHE_HOME"};
  return names;
}

const std::vector<std::string>& worker_libraries() {
  static const std::vector<std::string> names{"libnccl.so",   "librccl.so",   "libhccl.so",  "libtorch_cuda",
                                              "libtorch_hip", "libtorch_npu", "libtorch_xpu"};
  return names;
}

std::vector<std::string> dump_prefixes(const std::string* explicit_new, const std::string* explicit_old,
                                       const std::string& home, const std::string& cache) {
  std::vector<std::string> out;
  if (explicit_new != nullptr) add_once(out, *explicit_new);
  if (explicit_old != nullptr) add_once(out, *explicit_old);
  if (!cache.empty()) add_once(out, cache + std::string(kCacheName));
  if (!home.empty()) add_once(out, home + "/.cache" + std::string(kCacheName));
  add_once(out, "/tmp/nccl_trace_rank_");
  add_once(out, "/tmp/hccl_trace_rank_");
  return out;
}

std::vector<DumpPlace> dump_places(const std::vector<os::Process>& workers,
                                   const std::string& own_namespace) {
  std::vector<DumpPlace> places;
  std::vector<std::string> namespaces;  // of each place; where it is not known, the root stands for it
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const os::Process& worker = workers[i];
    const bool is_ours = !own_namespace.empty() && worker.mount_namespace == own_namespace;
    for (const std::string& prefix :
         dump_prefixes(worker.variable(kNewVariable), worker.variable(kOldVariable), value_of(worker, "HOME"),
                       value_of(worker, "XDG_CACHE_HOME"))) {
      DumpPlace place;
      std::string seen_from = worker.mount_namespace.empty() ? worker.root : worker.mount_namespace;
      if (prefix.front() != '/') {  // as seen from where that process works
        place.root = worker.root.substr(0, worker.root.rfind('/')) + "/cwd";
        seen_from = place.root;
      } else if (!is_ours) {
        place.root = worker.root;
      }
      place.prefix = prefix;
      std::size_t at = 0;
      while (at < places.size() && (places[at].prefix != prefix || namespaces[at] != seen_from)) ++at;
      if (at == places.size()) {
        places.push_back(std::move(place));
        namespaces.push_back(std::move(seen_from));
      }
      places[at].workers.push_back(i);
    }
  }
  return places;
}

std::optional<std::int64_t> rank_of_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = name.substr(prefix.size());
  std::int64_t rank = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  if (error != std::errc{} || rank < 0) return std::nullopt;
  const std::string_view tail(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
  const bool separate = tail.empty() || std::string_view("._-").find(tail.front()) != std::string_view::npos;
  return separate ? std::optional(rank) : std::nullopt;
}

std::string_view folder_of(std::string_view prefix) {
  return prefix.substr(0, prefix.rfind('/') + 1);
}

std::string_view name_of_path(std::string_view prefix) {
  return prefix.substr(prefix.rfind('/') + 1);
}

}  // namespace unhang::collect
