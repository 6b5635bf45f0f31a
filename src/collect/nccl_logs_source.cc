// SPDX-License-Identifier: Apache-2.0
#include "collect/nccl_logs_source.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>

#include "collect/dump_places.h"
#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "os/child_reader.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kVariable = "NCCL_DEBUG_FILE";
constexpr std::string_view kHost = "%h";
constexpr std::size_t kMaxFiles = 1024;
constexpr std::uint64_t kMaxTotal = std::uint64_t{1} << 30;

struct LogFile {
  std::string root, path;
  const os::Process* worker;
};

class NcclLogKeeper {
 public:
  NcclLogKeeper(const NcclLogSearch& search, CaptureNames& names, CaptureContext& context)
      : x_search(search), x_names(names), x_tally(context) {}

  SourceOutcome run() {
    for (const os::Process& worker : x_search.workers) find(worker);
    for (const LogFile& file : x_files) {
      if (x_tally.context().stopping()) break;
      keep(file);
    }
    return x_tally.outcome("no worker states a file for NCCL's log (NCCL_DEBUG_FILE)");
  }

 private:
  void find(const os::Process& worker) {
    const std::string* pattern = worker.variable(kVariable);
    if (pattern == nullptr || pattern->empty()) return;
    const std::int64_t pid = worker.namespace_pids.empty() ? worker.pid : worker.namespace_pids.back();
    const std::string path = nccl_log_name(*pattern, pid);
    std::string root;
    if (path.front() != '/') {
      root = worker.root.substr(0, worker.root.rfind('/')) + "/cwd";
    } else if (x_search.own_namespace.empty() || worker.mount_namespace != x_search.own_namespace) {
      root = worker.root;
    }
    if (path.find(kHost) == std::string::npos) {
      add({root, path, &worker});
      return;
    }
    const std::string folder(folder_of(path));
    if (folder.find(kHost) != std::string::npos) {
      x_tally.note(path + ": a folder with the host in its name is not searched");
      return;
    }
    const auto listed = os::read_in_child(os::ReadRequest{.kind = os::ReadKind::kFolder,
                                                          .root = root,
                                                          .path = folder.empty() ? "." : folder,
                                                          .max_bytes = 16 << 20},
                                          x_tally.read_deadlines());
    if (!listed.usable()) {
      x_tally.not_readable(folder, listed);
      return;
    }
    const std::size_t before = x_files.size();
    std::set<std::string> found;
    for (std::string_view rest = listed.bytes; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\0'), rest.size());
      if (is_nccl_log(rest.substr(0, end), name_of_path(path))) found.emplace(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const std::string& name : found) add({root, folder + name, &worker});
    if (x_files.size() == before && found.empty()) x_tally.note(path + ": there is no such file");
  }

  void add(LogFile file) {
    if (x_files.size() >= kMaxFiles) {
      x_tally.note("only the first " + std::to_string(kMaxFiles) + " files were looked at");
      return;
    }
    const bool known = std::any_of(x_files.begin(), x_files.end(), [&](const LogFile& other) {
      return other.path == file.path &&
             (other.root == file.root || (other.root.ends_with("/root") &&
                                          other.worker->mount_namespace == file.worker->mount_namespace));
    });
    if (!known) x_files.push_back(std::move(file));
  }

  void keep(const LogFile& file) {
    os::ReadRequest request{.root = file.root,
                            .path = file.path,
                            .follow_last = false,
                            .max_bytes = x_search.first_bytes + x_search.last_bytes};
    const auto whole = os::read_in_child(request, x_tally.read_deadlines());
    if (!whole.usable()) {
      x_tally.not_readable(file.path, whole);
    } else if (!whole.is_regular) {
      x_tally.note(file.path + ": no plain file");
    } else if (file.worker->user != whole.owner) {
      x_tally.note(file.path + ": passed over, it belongs to another user than the process");
    } else if (!x_known.insert({whole.device, whole.inode}).second) {
      return;  // several ranks share it
    } else if (whole.end == os::ReadEnd::kWhole) {
      write(file, whole, whole.bytes, "");
    } else {
      request.last_bytes = x_search.last_bytes;
      request.max_bytes = 2 * x_search.last_bytes;  // it grows meanwhile
      const auto end = os::read_in_child(request, x_tally.read_deadlines());
      write(file, whole, std::string_view(whole.bytes).substr(0, x_search.first_bytes), "the beginning");
      if (!end.usable()) {
        x_tally.not_readable(file.path, end);
        return;
      }
      // It begins somewhere in a line.
      std::string_view tail = end.bytes;
      const std::size_t newline = tail.find('\n');
      if (newline != std::string_view::npos) tail.remove_prefix(newline + 1);
      write(file, end, tail, "the end");
    }
  }

  void write(const LogFile& file, const os::ReadReply& read, std::string_view bytes,
             const std::string& part) {
    if (x_total >= kMaxTotal) {
      x_tally.note(file.path + ": the bundle is large enough");
      return;
    }
    x_total += bytes.size();
    model::BundleFile facts;
    facts.captured_ns = x_tally.context().wall_ns();
    const std::string ending = part.empty() ? ".log" : part == "the end" ? "-end.log" : "-begin.log";
    facts.path =
        x_names.next("nccl_log", facts.captured_ns,
                     std::to_string(file.worker->pid) + "-" + std::string(name_of_path(file.path)), ending);
    facts.original_path = file.path;
    facts.modified_ns = read.modified_ns;
    facts.pid = file.worker->pid;
    facts.note = part;
    facts.cut = part == "the beginning";
    x_tally.keep(without_secrets_in_text(bytes), std::move(facts));
  }

  const NcclLogSearch& x_search;
  CaptureNames& x_names;
  SourceTally x_tally;
  std::vector<LogFile> x_files;
  std::set<std::pair<std::uint64_t, std::uint64_t>> x_known;
  std::uint64_t x_total = 0;
};

}  // namespace

std::string nccl_log_name(std::string_view pattern, std::int64_t pid) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == '%') {
      out += '%';
    } else if (next == 'p') {
      out += std::to_string(pid);
    } else if (next == 'h') {
      out += kHost;
    } else {
      out += pattern[i];
      continue;
    }
    ++i;
  }
  return out;
}

bool is_nccl_log(std::string_view name, std::string_view pattern) {
  const std::size_t at = pattern.find(kHost);
  if (at == std::string_view::npos) return name == pattern;
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + kHost.size());
  if (!name.starts_with(before) || name.size() <= before.size() + after.size() || !name.ends_with(after))
    return false;
  const std::string_view host = name.substr(before.size(), name.size() - before.size() - after.size());
  // NCCL cuts the name of the host at its first dot.
  return host.find('.') == std::string_view::npos;
}

CaptureSource nccl_logs_source(std::string id, NcclLogSearch search, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "nccl_log";
  source.asked_kind = "search";
  source.asked = "NCCL_DEBUG_FILE of the workers";
  source.run = [search = std::move(search), names = std::move(names)](CaptureContext& context) {
    return NcclLogKeeper(search, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
