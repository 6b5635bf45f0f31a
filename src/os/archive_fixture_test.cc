// SPDX-License-Identifier: Apache-2.0
#include "os/archive_fixture.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"

namespace unhang::os::fixture {
namespace {

struct FreeWriter {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
using Writer = std::unique_ptr<archive, FreeWriter>;
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append_to_string(archive*, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

void open_writer(archive* writer, std::string& out) {
  archive_write_set_bytes_in_last_block(writer, 1);
  CHECK(archive_write_open(writer, &out, nullptr, append_to_string, nullptr) == ARCHIVE_OK);
}

void add(archive* writer, const Member& member) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), member.name.c_str());
  archive_entry_set_mtime(entry.get(), 1'700'000'000, 0);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_size(entry.get(), 0);
  if (member.type == Member::Type::kFolder) archive_entry_set_filetype(entry.get(), AE_IFDIR);
  if (member.type == Member::Type::kHardLink) archive_entry_set_hardlink(entry.get(), member.bytes.c_str());
  if (member.type == Member::Type::kLink) {
    archive_entry_set_filetype(entry.get(), AE_IFLNK);
    archive_entry_set_symlink(entry.get(), member.bytes.c_str());
  }
  const bool has_bytes = member.type == Member::Type::kFile;
  if (has_bytes) archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.bytes.size()));
  CHECK(archive_write_header(writer, entry.get()) >= ARCHIVE_WARN);
  if (has_bytes && !member.bytes.empty()) {
    CHECK(archive_write_data(writer, member.bytes.data(), member.bytes.size()) ==
          static_cast<la_ssize_t>(member.bytes.size()));
  }
}

}  // namespace

std::string make_tar(const std::vector<Member>& members, TarFlavour flavour) {
  std::string out;
  const Writer writer(archive_write_new());
  if (flavour == TarFlavour::kUstar) archive_write_set_format_ustar(writer.get());
  if (flavour == TarFlavour::kPax) archive_write_set_format_pax(writer.get());
  if (flavour == TarFlavour::kGnu) archive_write_set_format_gnutar(writer.get());
  if (flavour == TarFlavour::kV7) archive_write_set_format_v7tar(writer.get());
  // Names go in as they are given, whatever the locale of the test.
  archive_write_set_options(writer.get(), "hdrcharset=BINARY");
  open_writer(writer.get(), out);
  for (const Member& member : members) add(writer.get(), member);
  CHECK(archive_write_close(writer.get()) == ARCHIVE_OK);
  return out;
}

std::string make_sparse_tar(const std::string& name, std::uint64_t size, std::string_view tail) {
  std::string out;
  const Writer writer(archive_write_new());
  archive_write_set_format_pax(writer.get());
  open_writer(writer.get(), out);
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  const auto start = static_cast<la_int64_t>(size - tail.size());
  archive_entry_sparse_add_entry(entry.get(), start, static_cast<la_int64_t>(tail.size()));
  CHECK(archive_write_header(writer.get(), entry.get()) >= ARCHIVE_WARN);
  // The writer wants the bytes of holes, too, and leaves them out.
  const std::string zeros(1 << 20, '\0');
  for (std::uint64_t left = size - tail.size(); left > 0;) {
    const std::size_t part = std::min<std::uint64_t>(left, zeros.size());
    CHECK(archive_write_data(writer.get(), zeros.data(), part) == static_cast<la_ssize_t>(part));
    left -= part;
  }
  CHECK(archive_write_data(writer.get(), tail.data(), tail.size()) == static_cast<la_ssize_t>(tail.size()));
  CHECK(archive_write_close(writer.get()) == ARCHIVE_OK);
  return out;
}

std::string make_zip(const std::vector<Member>& members, const std::string& password) {
  std::string out;
  const Writer writer(archive_write_new());
  archive_write_set_format_zip(writer.get());
  archive_write_set_options(writer.get(), "hdrcharset=BINARY");
  if (!password.empty()) {
    archive_write_set_options(writer.get(), "zip:encryption=aes256");
    archive_write_set_passphrase(writer.get(), password.c_str());
  }
  open_writer(writer.get(), out);
  for (const Member& member : members) add(writer.get(), member);
  CHECK(archive_write_close(writer.get()) == ARCHIVE_OK);
  return out;
}

std::string compress(ContentKind kind, std::string_view bytes) {
  std::string out;
  const Writer writer(archive_write_new());
  archive_write_set_format_raw(writer.get());
  if (kind == ContentKind::kGzip) archive_write_add_filter_gzip(writer.get());
  if (kind == ContentKind::kZstd) archive_write_add_filter_zstd(writer.get());
  if (kind == ContentKind::kBzip2) archive_write_add_filter_bzip2(writer.get());
  if (kind == ContentKind::kXz) archive_write_add_filter_xz(writer.get());
  open_writer(writer.get(), out);
  add(writer.get(), {"data", std::string(bytes), Member::Type::kFile});
  CHECK(archive_write_close(writer.get()) == ARCHIVE_OK);
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TempFolder::TempFolder() {
  std::string pattern = testing::TempDir() + "unhang_os_XXXXXX";
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  x_path = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(x_path, ignored);
}

std::string TempFolder::write(const std::string& name, std::string_view bytes) const {
  const std::filesystem::path path = x_path / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

SwappedDescriptor::SwappedDescriptor(int fd, int replacement) : x_fd(fd), x_saved(::dup(fd)) {
  CHECK(::dup2(replacement, fd) == fd);
}

SwappedDescriptor::~SwappedDescriptor() {
  if (x_saved >= 0) {
    ::dup2(x_saved, x_fd);
    ::close(x_saved);
  } else {
    ::close(x_fd);
  }
}

}  // namespace unhang::os::fixture
