// SPDX-License-Identifier: Apache-2.0
#include "collect/stack_tools.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "collect/redaction.h"
#include "collect/stacks_source.h"
#include "os/run_program.h"
#include "os/stopped_process.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{32} << 20;
constexpr int kDeepest = 128;  // of JSON
// After gdb was killed: until the kernel has let go of what it held.
constexpr std::chrono::milliseconds kLettingGo{300};

std::string first_line(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return without_secrets_in_text(text.substr(begin, text.find_first_of("\r\n", begin) - begin));
}

bool is_about_permission(std::string_view text) {
  return text.find("ermission") != std::string_view::npos ||
         text.find("not permitted") != std::string_view::npos ||
         text.find("ptrace") != std::string_view::npos;
}

base::Result<os::ProgramReply> run(const HelperPrograms& programs, std::vector<std::string> words,
                                   ToolDeadline deadline) {
  os::ProgramRequest request;
  request.words = std::move(words);
  request.words.front() = os::find_program(request.words.front(), programs.path);
  request.deadline = deadline;
  request.max_output = kMaxOutput;
  request.wake_fd = programs.wake_fd;
  return os::run_program(request);
}

void say_trouble(const std::string& tool, std::int64_t pid, const base::Result<os::ProgramReply>& reply,
                 ToolAnswer& answer) {
  const std::string who = tool + " of " + std::to_string(pid) + ": ";
  if (!reply) {
    answer.trouble = who + reply.error().message;
  } else if (reply->timed_out) {
    answer.trouble = who + "it was not done in its time and was ended";
  } else if (!reply->well()) {
    answer.not_allowed = is_about_permission(reply->errors);
    answer.trouble = who + first_line(reply->errors.empty() ? reply->output : reply->errors);
  }
}

// Command lines stand in "process_info" of each thread, where py-spy tells of subprocesses.
void drop_command_lines(nlohmann::ordered_json& at, int depth) {
  if (depth > kDeepest) return;
  if (at.is_object()) {
    at.erase("command_line");
    at.erase("process_info");
    at.erase("locals");
  }
  if (at.is_structured()) {
    for (auto& item : at) drop_command_lines(item, depth + 1);
  }
}

}  // namespace

std::string without_command_line(std::string_view printed, bool is_json) {
  if (is_json) {
    auto document = nlohmann::ordered_json::parse(printed, nullptr, false);
    if (document.is_discarded()) return {};
    drop_command_lines(document, 0);
    return without_secrets_in_text(
        document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  // "Process 412: python3 -m vllm --api-key …"
  std::string out;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (line.starts_with("Process ") || line.starts_with("Parent Process "))
      line = line.substr(0, line.find(':') + 1);
    out.append(line).append("\n");
  }
  return without_secrets_in_text(out);
}

ToolAnswer ask_py_spy(const HelperPrograms& programs, std::int64_t pid, ToolDeadline deadline) {
  ToolAnswer answer;
  const std::string number = std::to_string(pid);
  auto reply = run(programs, {"py-spy", "dump", "--nonblocking", "--json", "--pid", number}, deadline);
  bool is_json = true;
  // Releases before 0.3.4 know neither of the two.
  if (reply && reply->exit_code != 0 && reply->errors.find("argument") != std::string::npos) {
    is_json = false;
    reply = run(programs, {"py-spy", "dump", "--pid", number}, deadline);
  }
  say_trouble("py-spy", pid, reply, answer);
  if (!reply || reply->output.empty()) return answer;
  answer.text = without_command_line(reply->output, is_json);
  answer.ending = is_json ? "-py-spy.json" : "-py-spy.txt";
  answer.cut = reply->cut || reply->timed_out;
  if (answer.text.empty() && answer.trouble.empty())
    answer.trouble = "py-spy of " + number + ": what it printed is no JSON";
  return answer;
}

// Where a distribution's packages put the scripts that teach gdb to show Python's stacks (Debian:
// python3-dbg). Only from there anything is loaded: never from the process, its container or a folder of a
// user.
constexpr const char* kGdbScripts = "/usr/share/gdb/auto-load";

bool has_python_scripts() {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kGdbScripts) + "/usr/bin", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("python") && name.ends_with("-gdb.py")) return true;
  }
  return false;
}

std::vector<std::string> gdb_words(std::int64_t pid, bool python) {
  std::vector<std::string> words{"gdb", "-nx", "-batch"};
  const auto add = [&words](const char* flag, std::string command) {
    words.emplace_back(flag);
    words.push_back(std::move(command));
  };
  if (python) {
    for (const char* what : {"gdb-scripts", "local-gdbinit", "libthread-db"})
      add("-iex", std::string("set auto-load ") + what + " off");
    add("-iex", std::string("set auto-load safe-path ") + kGdbScripts);
  } else {
    add("-iex", "set auto-load off");
  }
  add("-iex", "set debuginfod enabled off");
  add("-iex", "set print frame-arguments none");
  add("-iex", "set print entry-values no");
  add("-iex", "set width 0");
  add("-iex", "set height 0");
  add("-p", std::to_string(pid));
  add("-ex", "thread apply all bt 64");
  if (python) add("-ex", "thread apply all -s py-bt");
  add("-ex", "detach");
  return words;
}

ToolAnswer ask_gdb(const HelperPrograms& programs, std::int64_t pid, ToolDeadline deadline) {
  ToolAnswer answer;
  const bool stood = os::state_of_process(pid) == 'T';
  const auto reply = run(programs, gdb_words(pid, has_python_scripts()), deadline);
  if (!stood && (!reply || !reply->well()) && os::continue_stopped(pid, kLettingGo))
    answer.trouble = "the process had to be continued; ";
  const std::string continued = answer.trouble;
  say_trouble("gdb", pid, reply, answer);
  answer.trouble = continued + answer.trouble;
  if (!reply) return answer;
  // gdb ends well also where it could not attach: then there is no thread in what it printed.
  if (reply->output.find("\nThread ") == std::string::npos && !reply->output.starts_with("Thread ")) {
    answer.not_allowed = is_about_permission(reply->errors);
    if (answer.trouble.empty())
      answer.trouble = "gdb of " + std::to_string(pid) + ": " +
                       (reply->errors.empty() ? "no threads" : first_line(reply->errors));
    return answer;
  }
  answer.text = without_secrets_in_text(reply->output);
  answer.ending = "-gdb.txt";
  answer.cut = reply->cut || reply->timed_out;
  return answer;
}

}  // namespace unhang::collect
