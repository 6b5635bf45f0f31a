// SPDX-License-Identifier: Apache-2.0
#include "base/user_folder.h"

#include <algorithm>
#include <array>

#include "base/ascii_class.h"
#include "base/host_shape.h"

namespace unhang::base {
namespace {

constexpr std::size_t kLongestUser = 64;
constexpr std::string_view kBehindName = "/\\ \t\r\n\"'`:,;()[]<>|&";

// Folders of scratch space that hold one folder for each user, or what a team shares.
constexpr std::array<std::string_view, 4> kScratch{"scratch", "data", "work", "workspace"};

// What lies there beside the users' folders.
constexpr std::array<std::string_view, 78> kShared{
    "ai",        "apps",        "archive", "backup",   "backups",   "bench",       "bin",      "build",
    "cache",     "checkpoint",  "ckpt",    "ckpts",    "cluster",   "code",        "common",   "conda",
    "config",    "configs",     "corpus",  "cuda",     "dataset",   "datasets",    "download", "downloads",
    "dump",      "dumps",       "env",     "envs",     "eval",      "experiments", "fr",       "hf",
    "hub",       "huggingface", "images",  "imagenet", "inference", "job",         "jobs",     "lib",
    "logs",      "lost+found",  "lustre",  "megatron", "mlflow",    "models",      "mounts",   "nemo",
    "nfs",       "nvme",        "opt",     "outputs",  "pip",       "profiles",    "project",  "projects",
    "public",    "release",     "repo",    "repos",    "results",   "run",         "runs",     "scripts",
    "serving",   "share",       "shared",  "software", "spool",     "src",         "ssd",      "temp",
    "tokenizer", "tools",       "traces",  "users",    "venv",      "weights"};

bool is_shared_folder(std::string_view name) {
  if (!can_name_host(name) || is_shared_account(name)) return true;
  std::string_view word = name;
  while (!word.empty() && (is_digit(word.back()) || word.back() == '_' || word.back() == '-'))
    word.remove_suffix(1);
  const std::string small = lower_case(word);
  if (std::find(kShared.begin(), kShared.end(), small) != kShared.end()) return true;
  return !small.empty() && small.back() == 's' && small.size() > 1 &&
         std::find(kShared.begin(), kShared.end(), small.substr(0, small.size() - 1)) != kShared.end();
}

// "/scratch/", "/data/": the length of the folder's name with its slash; 0: another one.
std::size_t scratch_length(std::string_view rest) {
  for (const std::string_view folder : kScratch) {
    if (rest.starts_with(folder) && rest.substr(folder.size()).starts_with('/')) return folder.size() + 1;
  }
  return 0;
}

bool is_file_name(std::string_view name) {
  return name.find('.') != std::string_view::npos;
}

}  // namespace

UserFolder user_folder_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at + 1, kLongestUser + 16);
  std::size_t begin = 0;
  bool is_sure = true;
  if (rest.starts_with("home/")) begin = 5;
  if (rest.starts_with("Users/") || rest.starts_with("Users\\")) begin = 6;
  if (begin == 0) {
    begin = scratch_length(rest);
    is_sure = false;
    // In the middle of a path "data" and "work" are any folder ("torch/utils/data/x").
    const bool inside = at > 0 && (is_name_character(text[at - 1]) || text[at - 1] == '/');
    if (begin == 0 || (inside && !rest.starts_with("scratch/"))) return {};
  }
  const std::size_t end = std::min(rest.find_first_of(kBehindName, begin), rest.size());
  const std::string_view user = rest.substr(begin, end - begin);
  if (user.empty() || user.size() > kLongestUser || is_shared_account(user)) return {};
  if (!is_sure && (is_file_name(user) || is_shared_folder(user))) return {};
  return {at + 1 + begin, at + 1 + end, is_sure};
}

UserFolder tilde_user_at(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 16> kProse{"a",    "an",    "one", "two",  "three", "four",
                                                    "five", "six",   "ten", "half", "twice", "once",
                                                    "few",  "about", "the", "zero"};
  constexpr std::string_view kInFront = " \t\"'`=([{,;<>|&";
  if (at > 0 && kInFront.find(text[at - 1]) == std::string_view::npos) return {};
  std::size_t end = at + 1;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-' || c == '.';
  };
  while (end < text.size() && end - at <= kLongestUser && is_part(text[end])) ++end;
  while (end > at + 1 && !is_alphanumeric(text[end - 1])) --end;  // the full stop of a sentence
  const std::string_view user = text.substr(at + 1, end - at - 1);
  if (user.empty() || user.size() > kLongestUser || !is_letter(user.front())) return {};
  if (end < text.size() && (is_alphanumeric(text[end]) || text[end] == '(' || text[end] == '<')) return {};
  if (is_shared_account(user) || std::find(kProse.begin(), kProse.end(), user) != kProse.end()) return {};
  return {at + 1, end, user.size() > 2 && end < text.size() && text[end] == '/'};
}

}  // namespace unhang::base
