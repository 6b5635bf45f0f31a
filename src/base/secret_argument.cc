// SPDX-License-Identifier: Apache-2.0
#include "base/secret_argument.h"

#include <algorithm>
#include <array>

#include "base/ascii_class.h"
#include "base/secret_value.h"

namespace unhang::base {
namespace {

constexpr std::string_view kRemoved = "(removed)";
constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kFlagBytes = 16;
constexpr std::size_t kCommandBytes = 512;  // further in front no program is looked for
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kQuotes = "\"'";

enum class Argument { kOther, kUserAndPassword, kPassword };

bool is_name(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-';
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != kNone;
}

bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != kNone; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
  }
  return false;
}

// What stands in front of a flag, back to where another command ends. What was removed may have held such an
// end: beyond it nothing is looked at, so that a second time finds no more than the first.
std::string_view command_before(std::string_view line, std::size_t flag) {
  std::string_view text = line.substr(0, flag);
  if (text.size() > kCommandBytes) text.remove_prefix(text.size() - kCommandBytes);
  const std::size_t other = text.find_last_of("|;&");
  if (other != kNone) text.remove_prefix(other + 1);
  const std::size_t gap = text.rfind("(removed");
  if (gap != kNone) text.remove_prefix(gap + 1);
  return text;
}

// `sort -u file` and `mkdir -p folder` have the same flags: the program decides.
Argument argument_of(std::string_view flag, std::string_view command) {
  if (flag == "-u" || flag == "--user" || flag == "-U" || flag == "--proxy-user")
    return holds_word(command, "curl") ? Argument::kUserAndPassword : Argument::kOther;
  if (flag != "-p") return Argument::kOther;
  const std::size_t last = command.find_last_not_of(" \t\"',[");
  if (last != kNone && command.substr(0, last + 1).ends_with("sshpass")) return Argument::kPassword;
  constexpr std::array<std::string_view, 7> kRegistries{"docker", "podman", "nerdctl", "buildah",
                                                        "skopeo", "crane",  "helm"};
  const bool logs_in = holds_word(command, "login") &&
                       std::any_of(kRegistries.begin(), kRegistries.end(),
                                   [&](std::string_view program) { return holds_word(command, program); });
  return logs_in ? Argument::kPassword : Argument::kOther;
}

// "alice", "CORP\\alice", "alice@example.com", "$USER"; not "token=", behind which another rule finds a
// value.
bool is_user(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_name(c) || is_one_of(c, ".@\\+%$ "); });
}

// The value that begins at line[from], in quotes or up to the next blank.
Removal removed(std::string_view line, std::size_t from, Argument argument) {
  std::size_t quote = kNone;
  if (from < line.size() && is_one_of(line[from], kQuotes)) {
    quote = line.find(line[from], from + 1);
    ++from;
  }
  if (argument == Argument::kUserAndPassword) {
    const std::size_t end = quote != kNone ? quote : std::min(line.find_first_of(kBlanks, from), line.size());
    const std::size_t colon = line.substr(from, end - from).find(':');
    if (colon == kNone || !is_user(line.substr(from, colon))) return {};
    from += colon + 1;
  }
  const std::size_t end = quote != kNone ? quote : bare_value_end(line, from);
  if (end <= from || line.substr(from, end + 1 - from).find(kRemoved) != kNone) return {};
  return {from, end, std::string(kRemoved)};
}

// "-uuser:password": flag and value are one word.
Removal in_one_word(std::string_view line, std::size_t at) {
  const std::string_view flag = line.substr(at + 1, 2);
  if (flag != "-u" && flag != "-p") return {};
  const std::size_t from = at + 1 + flag.size();
  if (from >= line.size() || is_one_of(line[from], kBlanks) || is_one_of(line[from], kQuotes)) return {};
  const Argument argument = argument_of(flag, command_before(line, at));
  return argument == Argument::kOther ? Removal{} : removed(line, from, argument);
}

}  // namespace

Removal secret_argument_at(std::string_view line, std::size_t at) {
  if (is_one_of(line[at], kBlanks)) {
    if (Removal removal = in_one_word(line, at); removal.end > at) return removal;
  }
  const bool in_list = line[at] == ',';  // "'-u', 'user:password'"
  if (at == 0 || (in_list && !is_one_of(line[at - 1], kQuotes))) return {};
  const std::size_t flag_end = in_list ? at - 1 : at;
  std::size_t begin = flag_end;
  while (begin > 0 && flag_end - begin < kFlagBytes && is_name(line[begin - 1])) --begin;
  const std::string_view flag = line.substr(begin, flag_end - begin);
  if (!flag.starts_with('-') || (line[at] == '=' && !flag.starts_with("--"))) return {};
  const Argument argument = argument_of(flag, command_before(line, begin));
  if (argument == Argument::kOther) return {};
  std::size_t from = at + 1;
  while (from < line.size() && is_one_of(line[from], kBlanks)) ++from;
  if (in_list && (from >= line.size() || !is_one_of(line[from], kQuotes))) return {};
  return removed(line, from, argument);
}

}  // namespace unhang::base
