// SPDX-License-Identifier: Apache-2.0
#include "checks/torch_install.h"

#include <algorithm>

#include "os/child_reader.h"
#include "os/run_program.h"

namespace unhang::checks {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "" : path.substr(0, slash);
}

// The interpreter in a script's first line: "#!/opt/venv/bin/python3", "#!/usr/bin/env python3".
std::string interpreter_of(std::string_view head) {
  if (!head.starts_with("#!")) return {};
  head = head.substr(2, head.find('\n') - 2);
  while (head.starts_with(' ')) head.remove_prefix(1);
  const std::string_view program = head.substr(0, head.find(' '));
  if (!program.ends_with("/env") || program.size() == head.size()) return std::string(program);
  head.remove_prefix(program.size() + 1);
  return std::string(head.substr(0, head.find(' ')));
}

class Search {
 public:
  Search(const LookUp& variable, std::chrono::steady_clock::time_point end)
      : x_variable(variable), x_deadlines{.end = end} {}

  std::optional<TorchInstall> run(const std::vector<std::string>& command) {
    for (const std::string_view name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      const char* value = x_variable(name);
      if (value != nullptr && *value == '/') add_prefix(value);
    }
    // A launcher may stand in front: mpirun -np 2 python3 …, env X=1 vllm serve …
    for (const std::string& word : command) {
      const bool may_be_program = !word.starts_with('-') && word.find('=') == std::string::npos;
      if (may_be_program && x_programs++ < kMostWords) add_program(word);
    }
    add_program("python3");
    const char* home = x_variable("HOME");
    if (home != nullptr && *home == '/') add_prefix(std::string(home) + "/.local");
    for (const std::string& prefix : x_prefixes) {
      if (auto found = below(prefix)) return found;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMostWords = 8;

  void add_prefix(const std::string& prefix) {
    if (std::find(x_prefixes.begin(), x_prefixes.end(), prefix) == x_prefixes.end())
      x_prefixes.push_back(prefix);
  }
  os::ReadReply read(const std::string& path, os::ReadKind kind, std::uint64_t most) const {
    return os::read_in_child({.kind = kind, .path = path, .max_bytes = most}, x_deadlines);
  }

  void add_program(const std::string& word) {
    const char* path = x_variable("PATH");
    const std::string program = os::find_program(word, path == nullptr ? "/usr/bin:/bin" : path);
    if (program.empty()) return;
    const std::string name = program.substr(program.rfind('/') + 1);
    if (name.starts_with("python")) {
      add_bin(program);
      return;
    }
    const auto head = read(program, os::ReadKind::kFile, 256);
    if (!head.usable()) return;
    const std::string interpreter = interpreter_of(head.bytes);
    if (interpreter.find("python") == std::string::npos) return;
    if (interpreter.starts_with('/')) {
      add_bin(interpreter);
    } else {
      add_bin(os::find_program(interpreter, path == nullptr ? "/usr/bin:/bin" : path));
    }
  }
  void add_bin(const std::string& python) {
    const std::string bin = folder_of(python), prefix = folder_of(bin);
    if (prefix.empty()) return;
    add_prefix(prefix);
    if (prefix == "/usr") add_prefix("/usr/local");  // Debian's python3 looks there, too
  }

  std::optional<TorchInstall> below(const std::string& prefix) const {
    std::vector<std::string> places{prefix + "/lib/python3/dist-packages"};
    const auto names = read(prefix + "/lib", os::ReadKind::kFolder, 1 << 20);
    std::vector<std::string> pythons;
    for (std::string_view rest = names.bytes; names.usable() && !rest.empty();) {
      const std::size_t end = std::min(rest.find('\0'), rest.size());
      if (rest.substr(0, end).starts_with("python3.")) pythons.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::sort(pythons.begin(), pythons.end());
    for (const std::string& python : pythons) {
      for (const std::string_view kind : {"/site-packages", "/dist-packages"})
        places.push_back(prefix + "/lib/" + python + std::string(kind));
    }
    for (const std::string& place : places) {
      const std::string file = place + "/torch/version.py";
      const auto reply = read(file, os::ReadKind::kFile, 64 << 10);
      if (!reply.usable()) continue;
      if (const auto release = stated(reply.bytes)) return TorchInstall{*release, file};
    }
    return std::nullopt;
  }

  // __version__ = '2.9.1+cu128'
  static std::optional<Release> stated(std::string_view text) {
    const std::size_t at = text.find("__version__ =");
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t open = text.find_first_of("'\"", at);
    if (open == std::string_view::npos) return std::nullopt;
    const std::size_t close = text.find(text[open], open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return parse_release(text.substr(open + 1, close - open - 1));
  }

  const LookUp& x_variable;
  os::ReadDeadlines x_deadlines;
  std::vector<std::string> x_prefixes;
  std::size_t x_programs = 0;
};

}  // namespace

std::optional<TorchInstall> find_torch(const std::vector<std::string>& command, const LookUp& variable,
                                       std::chrono::steady_clock::time_point end) {
  return Search(variable, end).run(command);
}

}  // namespace unhang::checks
