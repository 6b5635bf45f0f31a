// SPDX-License-Identifier: Apache-2.0
//
// Writes a bundle: a folder (mode 0700) of raw bytes and its manifest.json (docs/formats/bundle.md). At every
// moment the folder is a valid bundle: a file gets its name when it is whole, and the manifest is replaced as
// a whole, after each file and each source (of very many files that come in one after the other: twice a
// second). A kill costs at most a line of the manifest, never a file.
//
// Safe to use from several threads. After finish() nothing is taken any more: a source that was given up
// cannot change the bundle behind the back of whoever reads it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "model/bundle.h"
#include "os/private_file.h"

namespace unhang::collect {

class BundleWriter;

// One file in the making.
class BundleEntry {
 public:
  base::Result<> write(std::string_view bytes);
  base::Result<> rewind();  // begins anew
  std::uint64_t bytes() const { return x_bytes; }

 private:
  friend class BundleWriter;
  BundleEntry(std::string path, os::PrivateFile file) : x_path(std::move(path)), x_file(std::move(file)) {}

  std::string x_path;
  os::PrivateFile x_file;
  base::Sha256 x_sum;
  std::uint64_t x_bytes = 0;
};

class BundleWriter {
 public:
  // Makes the folder and its first manifest, in which every planned source is silent. kUsage when there is
  // something in the folder already.
  static base::Result<std::unique_ptr<BundleWriter>> create(const std::string& folder,
                                                            model::BundleManifest planned);

  // `path` is inside the bundle; the folders on the way are made. Each part is made harmless (clean_name).
  base::Result<BundleEntry> open(const std::string& path);
  // The file is there and listed from now on. Fills path, bytes and sha256 of `facts`.
  base::Result<> close(std::size_t source, BundleEntry entry, model::BundleFile facts);
  // Both at once.
  base::Result<> keep(std::size_t source, std::string_view bytes, model::BundleFile facts);

  // Writes FOLDER/manifest.json, of a bundle inside this one, or replaces it. It is not listed.
  base::Result<> put_manifest(const std::string& folder, std::string_view bytes);

  // Lists what came in since the manifest was written last.
  base::Result<> flush();

  // How a source ended: everything of `outcome` but its files, which are those that were kept.
  base::Result<> end_source(std::size_t source, model::BundleSource outcome);

  base::Result<> finish(std::int64_t ended_ns, bool interrupted);
  model::BundleManifest manifest() const;
  const std::string& folder() const { return x_folder; }

 private:
  BundleWriter(std::string folder, model::BundleManifest planned)
      : x_folder(std::move(folder)), x_manifest(std::move(planned)) {}
  base::Result<> write_manifest();  // x_mutex is held

  const std::string x_folder;
  mutable std::mutex x_mutex;
  model::BundleManifest x_manifest;
  bool x_finished = false;
  bool x_listed = false;  // the manifest on the disk has all files
  std::size_t x_files = 0;
  std::chrono::steady_clock::time_point x_written;
};

// Each part of a path made harmless by clean_name().
std::string clean_path(std::string_view path);

// A name that is harmless in every file system and shell: letters, digits, '.', '_', '-', '+', '=';
// everything else becomes '_'. Never empty, never hidden, at most 120 bytes.
std::string clean_name(std::string_view text);

}  // namespace unhang::collect
