// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_log_watch.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::cli {
namespace {

constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kPiece = 256 << 10;     // of one file at one look
constexpr std::uint64_t kMostRead = 8 << 20;  // of one file: an initialisation is much shorter
constexpr std::string_view kReady = "Init COMPLETE", kCall = "opCount";

// "nccl.%h.%p.log" as a pattern of fnmatch; everything else stands for itself.
std::string as_glob(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 1 < name.size() && (name[i + 1] == 'h' || name[i + 1] == 'p')) {
      out += '*';
      ++i;
    } else {
      if (name[i] == '*' || name[i] == '?' || name[i] == '[' || name[i] == '\\') out += '\\';
      out += name[i];
    }
  }
  return out;
}

}  // namespace

NcclLogWatch::NcclLogWatch(std::string pattern) {
  const std::size_t slash = pattern.rfind('/');
  x_folder = slash == std::string::npos ? "." : pattern.substr(0, std::max<std::size_t>(slash, 1));
  x_name = as_glob(std::string_view(pattern).substr(slash + 1));  // npos + 1 is 0
  list(nullptr);
}

void NcclLogWatch::look(Time now) {
  list(&now);
}

void NcclLogWatch::list(const Time* now) {
  DIR* folder = ::opendir(x_folder.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    if (::fnmatch(x_name.c_str(), entry->d_name, FNM_PERIOD) != 0) continue;
    struct stat status {};
    if (::fstatat(::dirfd(folder), entry->d_name, &status, 0) != 0 || !S_ISREG(status.st_mode)) continue;
    const std::string path = x_folder + "/" + entry->d_name;
    if (x_files.size() >= kMostFiles && !x_files.contains(path)) continue;
    File& file = x_files[path];
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (now == nullptr) file = {.size = size, .read = size, .begun_at = size, .is_old = true, .rest = {}};
    if (size == file.size) continue;
    if (size < file.size) file.read = file.begun_at = 0;  // begun anew
    file.size = size;
    file.is_old = false;
    if (!began) began = *now;
    last_line = *now;
    if (!ready || !first_call) read_more(path, file, *now);
  }
  ::closedir(folder);
}

void NcclLogWatch::read_more(const std::string& path, File& file, Time now) {
  const os::FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return;
  std::string bytes(kPiece, '\0');
  const std::uint64_t end = std::min(file.size, file.begun_at + kMostRead);
  while (file.read < end) {
    const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(file.read));
    if (got <= 0) return;
    file.read += static_cast<std::uint64_t>(got);
    const std::string text = file.rest + bytes.substr(0, static_cast<std::size_t>(got));
    if (!ready && text.find(kReady) != std::string::npos) ready = now;
    if (!first_call && text.find(kCall) != std::string::npos) first_call = now;
    file.rest = text.substr(text.size() - std::min(text.size(), kReady.size() - 1));
  }
}

std::vector<std::string> NcclLogWatch::files() const {
  std::vector<std::string> out;
  for (const auto& [path, file] : x_files) {
    if (!file.is_old) out.push_back(path);
  }
  return out;
}

}  // namespace unhang::cli
