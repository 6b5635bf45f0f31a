// SPDX-License-Identifier: Apache-2.0
//
// For tests only: makes archives in memory, and folders that go away again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "os/content_kind.h"

namespace unhang::os::fixture {

struct Member {
  enum class Type { kFile, kFolder, kLink, kHardLink };
  std::string name;
  std::string bytes;  // of a link: its target
  Type type = Type::kFile;
};

enum class TarFlavour { kUstar, kPax, kGnu, kV7 };
std::string make_tar(const std::vector<Member>& members, TarFlavour flavour = TarFlavour::kUstar);
// One member of `size` bytes that is a hole but for `tail` at its end.
std::string make_sparse_tar(const std::string& name, std::uint64_t size, std::string_view tail);
// Deflated; encrypted when there is a password.
std::string make_zip(const std::vector<Member>& members, const std::string& password = "");
std::string compress(ContentKind kind, std::string_view bytes);

std::string read_file(const std::filesystem::path& path);

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return (x_path / name).string(); }
  // Writes a file, with the folders above it; gives its path.
  std::string write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path x_path;
};

// While it lives, descriptor `fd` (0, 1) is `replacement`.
class SwappedDescriptor {
 public:
  SwappedDescriptor(int fd, int replacement);
  ~SwappedDescriptor();
  SwappedDescriptor(const SwappedDescriptor&) = delete;
  SwappedDescriptor& operator=(const SwappedDescriptor&) = delete;

 private:
  int x_fd;
  int x_saved;
};

}  // namespace unhang::os::fixture
