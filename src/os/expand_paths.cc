// SPDX-License-Identifier: Apache-2.0
#include "os/expand_paths.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

namespace unhang::os {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string error_text(int error) {
  return std::generic_category().message(error);
}

// "./a//b/." -> "a/b": only what does not change the meaning; ".." stays, it may cross a link.
std::string tidy(std::string_view path) {
  std::string out = path.starts_with('/') ? "/" : "";
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (!out.empty() && out.back() != '/') out += '/';
    out += part;
  }
  return out.empty() ? "." : out;
}

std::string join(const std::string& folder, std::string_view name) {
  std::string out = folder == "." ? std::string() : folder;
  if (!out.empty() && out.back() != '/') out += '/';
  return out += name;
}

// The one true name of something that exists; its own name when the system cannot tell.
std::string canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved ? std::string(resolved.get()) : path;
}

const char* special_text(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe, which could block; not read (pipe its data in with -)";
  if (S_ISSOCK(mode)) return "a socket; not read";
  return "a device; not read";
}

class Expansion {
 public:
  explicit Expansion(const ExpandLimits& limits) : x_limits(limits) {}

  void add_argument(const std::string& argument) {
    if (argument == "-") {
      x_found.push_back({"-", "-", false});
      return;
    }
    const std::string path = tidy(argument);
    struct stat status {};
    if (!argument.empty() && ::stat(path.c_str(), &status) == 0) {
      add_existing(path, status.st_mode);
      return;
    }
    const int error = argument.empty() ? ENOENT : errno;
    if (error == ENOENT && is_link(path)) {
      note(path, "a link whose target does not exist");
    } else if (error == ENOENT && path.find_first_of("*?[") != std::string::npos) {
      add_pattern(path);
    } else {
      note(argument.empty() ? "(empty argument)" : path, error_text(error));
    }
  }

  Expanded finish() && {
    // Of several names of one file the one that is no link stays: its name may tell the rank.
    std::sort(x_found.begin(), x_found.end(), [](const Found& a, const Found& b) {
      return std::tie(a.canonical, a.is_link, a.path) < std::tie(b.canonical, b.is_link, b.path);
    });
    Expanded out;
    const Found* kept = nullptr;
    for (const Found& found : x_found) {
      if (kept == nullptr || kept->canonical != found.canonical) {
        kept = &found;
        out.files.push_back(found.path);
      } else if (found.is_link && found.path != kept->path) {
        note(found.path, "a link to " + kept->path + ", which is read already");
      }
    }
    std::sort(out.files.begin(), out.files.end());
    std::sort(x_notes.begin(), x_notes.end(), [](const PathNote& a, const PathNote& b) {
      return std::tie(a.path, a.text) < std::tie(b.path, b.text);
    });
    x_notes.erase(std::unique(x_notes.begin(), x_notes.end()), x_notes.end());
    out.notes = std::move(x_notes);
    return out;
  }

 private:
  struct Found {
    std::string path;
    std::string canonical;
    bool is_link;
  };
  struct Entry {
    std::string name;
    unsigned char type;
    bool operator<(const Entry& other) const { return name < other.name; }
  };

  static bool is_link(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  }

  void note(const std::string& path, std::string text) { x_notes.push_back({path, std::move(text)}); }

  void add_existing(const std::string& path, mode_t mode) {
    if (S_ISDIR(mode)) {
      walk(path, canonical(path), 0);
    } else if (S_ISREG(mode)) {
      add_file(path, canonical(path), is_link(path));
    } else {
      note(path, special_text(mode));
    }
  }

  void add_pattern(const std::string& pattern) {
    glob_t matches{};
    const int code = ::glob(pattern.c_str(), 0, nullptr, &matches);
    for (std::size_t i = 0; code == 0 && i < matches.gl_pathc; ++i) {
      const std::string path = tidy(matches.gl_pathv[i]);
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) {
        add_existing(path, status.st_mode);
      } else {
        note(path, is_link(path) ? "a link whose target does not exist" : error_text(errno));
      }
    }
    if (code != 0)
      note(pattern, code == GLOB_NOMATCH ? "the pattern matches nothing" : "the pattern cannot be expanded");
    ::globfree(&matches);
  }

  bool full() {
    if (x_found.size() < x_limits.max_files) return false;
    if (!std::exchange(x_told_full, true)) {
      note("(all)", "more than " + std::to_string(x_limits.max_files) +
                        " files; the rest is not read: name the folder that matters");
    }
    return true;
  }

  void add_file(const std::string& path, std::string canonical_path, bool through_link) {
    if (!full()) x_found.push_back({path, std::move(canonical_path), through_link});
  }

  void walk(const std::string& folder, const std::string& canonical_folder, std::uint32_t depth) {
    if (depth > x_limits.max_depth) {
      note(folder, "more than " + std::to_string(x_limits.max_depth) + " folders deep; not read");
      return;
    }
    const auto entries = list(folder);
    if (!entries) return;
    for (const Entry& entry : *entries) {
      if (full()) return;
      visit(join(folder, entry.name), join(canonical_folder, entry.name), entry.type, depth);
    }
  }

  // Sorted, so that a limit always cuts at the same place. The folder is closed again before anything below
  // is opened.
  std::optional<std::vector<Entry>> list(const std::string& folder) {
    const std::unique_ptr<DIR, CloseFolder> handle(::opendir(folder.c_str()));
    if (!handle) {
      note(folder, "the folder cannot be read: " + error_text(errno));
      return std::nullopt;
    }
    std::vector<Entry> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(handle.get())) {
      if (entry->d_name[0] != '.') entries.push_back({entry->d_name, entry->d_type});
      errno = 0;
    }
    if (errno != 0) note(folder, "the folder could be read only in part: " + error_text(errno));
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  void visit(const std::string& path, const std::string& canonical_path, unsigned char type,
             std::uint32_t depth) {
    if (type == DT_REG) {
      add_file(path, canonical_path, false);
      return;
    }
    struct stat status {};
    if (type != DT_DIR && type != DT_LNK) {
      if (::lstat(path.c_str(), &status) != 0) return note(path, error_text(errno));
    }
    const bool link = type == DT_LNK || S_ISLNK(status.st_mode);
    if (type == DT_DIR || S_ISDIR(status.st_mode)) {
      walk(path, canonical_path, depth + 1);
    } else if (!link) {
      S_ISREG(status.st_mode) ? add_file(path, canonical_path, false)
                              : note(path, special_text(status.st_mode));
    } else if (::stat(path.c_str(), &status) != 0) {
      note(path, errno == ENOENT ? "a link whose target does not exist" : error_text(errno));
    } else if (S_ISDIR(status.st_mode)) {
      note(path, "a link to a folder; not followed: name it to read it");
    } else if (S_ISREG(status.st_mode)) {
      add_file(path, canonical(path), true);
    } else {
      note(path, special_text(status.st_mode));
    }
  }

  ExpandLimits x_limits;
  std::vector<Found> x_found;
  std::vector<PathNote> x_notes;
  bool x_told_full = false;
};

std::string nothing_to_read(const std::vector<std::string>& arguments, const std::vector<PathNote>& notes) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(notes.size(), kShown); ++i) {
    out += (i == 0 ? "" : "; ") + notes[i].path + ": " + notes[i].text;
  }
  if (notes.size() > kShown) out += "; and " + std::to_string(notes.size() - kShown) + " more";
  if (notes.empty())
    out = arguments.empty() ? "no input is named"
                            : arguments.front() + ": no files in it (hidden ones are left out)";
  return out + ". Give files, folders, archives or patterns that hold the evidence, or - for stdin.";
}

}  // namespace

base::Result<Expanded> expand_paths(const std::vector<std::string>& arguments, const ExpandLimits& limits) {
  std::vector<std::string> sorted = arguments;  // so that a limit cuts at the same place whatever their order
  std::sort(sorted.begin(), sorted.end());
  Expansion expansion(limits);
  for (const std::string& argument : sorted) expansion.add_argument(argument);
  Expanded out = std::move(expansion).finish();
  if (out.files.empty()) return base::fail(base::ErrorCode::kNoInput, nothing_to_read(sorted, out.notes));
  return out;
}

}  // namespace unhang::os
