// SPDX-License-Identifier: Apache-2.0
#include "collect/node_look.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "collect/node_parts.h"
#include "os/path_facts.h"

namespace unhang::collect {
namespace {

// statfs(2), linux/magic.h, and what file systems outside of the kernel use.
struct FileSystemName {
  std::uint64_t type;
  std::string_view name;
};
constexpr FileSystemName kFileSystems[] = {
    {0x01021994, "tmpfs"},  {0x858458f6, "ramfs"},   {0x6969, "nfs"},        {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},   {0x517b, "smb"},         {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},
    {0x19830326, "beegfs"}, {0x00c36400, "ceph"},    {0x65735546, "fuse"},   {0x01021997, "9p"},
    {0xef53, "ext4"},       {0x58465342, "xfs"},     {0x9123683e, "btrfs"},  {0x794c7630, "overlay"},
    {0x2fc12fc1, "zfs"},    {0x61756673, "aufs"},    {0x9fa0, "proc"},       {0x62656572, "sysfs"},
    {0xf15f, "ecryptfs"},   {0x6a656a63, "virtiofs"}};

std::string file_system_name(std::uint64_t type) {
  for (const FileSystemName& known : kFileSystems) {
    if (known.type == type) return std::string(known.name);
  }
  return fmt::format("0x{:x}", type);
}

// The kinds of stat(2)'s st_mode, which this room does not include.
model::PathKind kind_of(std::uint32_t mode) {
  constexpr std::uint32_t kMask = 0170000, kFifo = 0010000, kFolder = 0040000, kRegular = 0100000;
  switch (mode & kMask) {
    case kFifo:
      return model::PathKind::kFifo;
    case kFolder:
      return model::PathKind::kFolder;
    case kRegular:
      return model::PathKind::kFile;
    default:
      return model::PathKind::kOther;
  }
}

model::PathFacts facts_of(const std::string& path, const os::PathAnswer& answer) {
  constexpr std::uint32_t kRights = 07777;
  model::PathFacts facts;
  facts.path = path;
  if (answer.end == os::ReadEnd::kFailed && (answer.error == ENOENT || answer.error == ENOTDIR)) {
    facts.looked = true;
  } else if (answer.end != os::ReadEnd::kWhole) {
    facts.trouble = os::reason_text(os::ReadReply{.end = answer.end, .error = answer.error});
  } else {
    facts.looked = facts.exists = true;
    facts.kind = kind_of(answer.mode);
    facts.rights = answer.mode & kRights;
    facts.owner = answer.owner;
    facts.group = answer.group;
    facts.file_system = file_system_name(answer.type);
    facts.read_only = answer.read_only;
    facts.bytes_total = answer.bytes_total;
    facts.bytes_free = answer.bytes_free;
    if (answer.inodes_total > 0) facts.inodes_free = answer.inodes_free;
  }
  return facts;
}

}  // namespace

std::string NodeView::variable(std::string_view name) const {
  for (const auto& [known, value] : look.environment) {
    if (known == name) return value;
  }
  return {};
}

const os::Process* NodeView::process_of(std::int64_t pid) const {
  const auto& all = table.processes;  // ascending pid
  const auto at =
      std::lower_bound(all.begin(), all.end(), pid,
                       [](const os::Process& one, std::int64_t wanted) { return one.pid < wanted; });
  return at == all.end() || at->pid != pid ? nullptr : &*at;
}

const std::string* NodeView::variable_of(std::size_t worker, std::string_view name) const {
  const os::Process* process = process_of(workers.processes[worker].pid);
  return process == nullptr ? nullptr : process->variable(name);
}

std::string NodeView::reach_of(std::size_t i) const {
  const os::Process& worker = workers.processes[i];
  const bool is_ours = !workers.own_namespace.empty() && worker.mount_namespace == workers.own_namespace;
  return is_ours ? std::string() : worker.root;
}

std::string NodeView::read(const std::string& path) const {
  auto reply = os::read_in_child(os::ReadRequest{.path = path}, deadlines);
  return reply.usable() ? std::move(reply.bytes) : std::string();
}

std::string NodeView::trimmed(const std::string& path) const {
  std::string text = read(path);
  text.erase(std::min(text.find_last_not_of(" \t\n") + 1, text.size()));
  return text;
}

std::vector<std::string> NodeView::names_in(const std::string& path) const {
  const auto reply = os::read_in_child(
      os::ReadRequest{.kind = os::ReadKind::kFolder, .path = path, .max_bytes = 4 << 20}, deadlines);
  std::vector<std::string> names;
  for (std::string_view rest = reply.bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<model::PathFacts> NodeView::paths(const std::string& reach, const std::vector<std::string>& list,
                                              bool follow_last) const {
  std::vector<os::PathQuestion> questions;
  for (const std::string& path : list)
    questions.push_back({.root = reach, .path = path, .follow_last = follow_last});
  const auto answers = os::ask_paths(questions, deadlines);
  std::vector<model::PathFacts> facts;
  for (std::size_t i = 0; i < list.size(); ++i) facts.push_back(facts_of(list[i], answers[i]));
  return facts;
}

std::string_view status_value(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(line.size() + 1, status.size()));
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const std::size_t begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
  }
  return {};
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return numbers;
    text.remove_prefix(begin);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return numbers;
    numbers.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

const std::vector<std::string>& node_variables() {
  static const std::vector<std::string> names{
      "PATH", "TMPDIR", "NCCL_RAS_ADDR", "KUBERNETES_SERVICE_HOST", "SLURM_JOB_ID", "container"};
  return names;
}

base::Result<model::NodeFacts> look_at_node(const NodeLook& look) {
  WorkerChoice choice;
  choice.pids = look.pids;
  choice.match = look.match;
  choice.proc = look.proc;
  choice.end = look.end;
  const Workers workers = find_workers(choice);
  if (workers.status == model::SourceStatus::kFailed)
    return base::fail(base::ErrorCode::kIo, look.proc + ": " + workers.reason);
  // Once more, for the variables of everybody: who launched the workers is none of them.
  os::ProcessTableOptions options;
  options.proc = look.proc;
  options.variables = look.variables;
  options.deadlines.end = look.end;
  const auto table = os::read_process_table(options);
  if (!table) return base::fail(table.error());
  const NodeView view{.look = look, .workers = workers, .table = *table, .deadlines = {.end = look.end}};
  model::NodeFacts facts;
  facts.was_asked_for = !look.pids.empty() || !look.match.empty();
  look_at_workers(view, facts);
  look_at_dumps(view, facts);
  look_at_fifos(view, facts);
  look_at_ras(view, facts);
  look_at_engines(view, facts);
  look_at_machine(view, facts);
  look_at_memory(view, facts);
  look_at_devices(view, facts);
  return facts;
}

}  // namespace unhang::collect
