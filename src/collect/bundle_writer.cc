// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_writer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/check.h"
#include "collect/manifest_json.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::milliseconds kManifestAge{500};
constexpr std::size_t kFewFiles = 100;
constexpr std::string_view kNotFinished = "the capture ended before this was done";

base::Error too_late() {
  return {base::ErrorCode::kTryAgain, "the bundle is closed already"};
}

}  // namespace

std::string clean_path(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!out.empty()) out += '/';
    out += clean_name(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

std::string clean_name(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    const bool harmless = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("._-+=").find(c) != std::string_view::npos;
    out += harmless ? c : '_';
  }
  if (out.empty() || out.front() == '.' || out.front() == '-') out.insert(0, "_");
  return out;
}

base::Result<> BundleEntry::write(std::string_view bytes) {
  x_sum.add(bytes);
  x_bytes += bytes.size();
  return x_file.write(bytes);
}

base::Result<> BundleEntry::rewind() {
  x_sum = base::Sha256();
  x_bytes = 0;
  return x_file.rewind();
}

base::Result<std::unique_ptr<BundleWriter>> BundleWriter::create(const std::string& folder,
                                                                 model::BundleManifest planned) {
  if (auto made = os::make_private_folder(folder); !made) return base::fail(std::move(made.error()));
  for (model::BundleSource& source : planned.sources) {
    source.status = model::SourceStatus::kSilent;
    source.reason = kNotFinished;
  }
  std::unique_ptr<BundleWriter> writer(new BundleWriter(folder, std::move(planned)));
  const std::lock_guard lock(writer->x_mutex);
  if (auto written = writer->write_manifest(); !written) return base::fail(std::move(written.error()));
  return writer;
}

base::Result<BundleEntry> BundleWriter::open(const std::string& path) {
  const std::string clean = clean_path(path);
  {
    const std::lock_guard lock(x_mutex);
    if (x_finished) return base::fail(too_late());
  }
  if (const std::size_t slash = clean.rfind('/'); slash != std::string::npos) {
    if (auto made = os::make_private_subfolder(x_folder + "/" + clean.substr(0, slash)); !made)
      return base::fail(std::move(made.error()));
  }
  auto file = os::PrivateFile::create(x_folder + "/" + clean);
  if (!file) return base::fail(std::move(file.error()));
  return BundleEntry(clean, std::move(*file));
}

base::Result<> BundleWriter::close(std::size_t source, BundleEntry entry, model::BundleFile facts) {
  // Waiting for the disk keeps nobody else waiting.
  if (auto finished = entry.x_file.finish(); !finished) return finished;
  facts.path = entry.x_path;
  facts.bytes = entry.x_bytes;
  facts.sha256 = entry.x_sum.hex();
  const std::lock_guard lock(x_mutex);
  if (x_finished) {
    std::error_code ignored;
    std::filesystem::remove(x_folder + "/" + facts.path, ignored);
    return base::fail(too_late());
  }
  CHECK(source < x_manifest.sources.size());
  x_manifest.sources[source].files.push_back(std::move(facts));
  x_listed = false;
  // A manifest of thousands of files is not written thousands of times.
  if (++x_files > kFewFiles && std::chrono::steady_clock::now() - x_written < kManifestAge) return {};
  return write_manifest();
}

base::Result<> BundleWriter::keep(std::size_t source, std::string_view bytes, model::BundleFile facts) {
  auto entry = open(facts.path);
  if (!entry) return base::fail(std::move(entry.error()));
  if (auto written = entry->write(bytes); !written) return written;
  return close(source, std::move(*entry), std::move(facts));
}

base::Result<> BundleWriter::end_source(std::size_t source, model::BundleSource outcome) {
  const std::lock_guard lock(x_mutex);
  if (x_finished) return base::fail(too_late());
  CHECK(source < x_manifest.sources.size());
  outcome.files = std::move(x_manifest.sources[source].files);
  x_manifest.sources[source] = std::move(outcome);
  return write_manifest();
}

base::Result<> BundleWriter::finish(std::int64_t ended_ns, bool interrupted) {
  const std::lock_guard lock(x_mutex);
  if (x_finished) return base::fail(too_late());
  x_finished = true;
  x_manifest.ended_ns = ended_ns;
  x_manifest.interrupted = interrupted;
  return write_manifest();
}

base::Result<> BundleWriter::put_manifest(const std::string& folder, std::string_view bytes) {
  const std::string clean = x_folder + "/" + clean_path(folder);
  {
    const std::lock_guard lock(x_mutex);
    if (x_finished) return base::fail(too_late());
  }
  if (auto made = os::make_private_subfolder(clean); !made) return made;
  return os::write_private_file(clean + "/manifest.json", bytes);
}

base::Result<> BundleWriter::flush() {
  const std::lock_guard lock(x_mutex);
  if (x_listed || x_finished) return {};
  return write_manifest();
}

model::BundleManifest BundleWriter::manifest() const {
  const std::lock_guard lock(x_mutex);
  return x_manifest;
}

base::Result<> BundleWriter::write_manifest() {
  x_written = std::chrono::steady_clock::now();
  x_listed = true;
  return os::write_private_file(x_folder + "/manifest.json", manifest_json(x_manifest));
}

}  // namespace unhang::collect
