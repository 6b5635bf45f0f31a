// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_check.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "base/sha256.h"
#include "formats/bundle/bundle_manifest.h"
#include "model/bundle.h"

namespace unhang::collect {
namespace {

namespace fs = std::filesystem;

struct Content {
  std::uint64_t bytes = 0;
  std::string sha256;
};

// nullopt: no plain file, or not readable.
std::optional<Content> read_content(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  Content out;
  base::Sha256 sum;
  std::array<char, 1 << 16> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    const auto got = static_cast<std::size_t>(file.gcount());
    sum.add({buffer.data(), got});
    out.bytes += got;
  }
  out.sha256 = sum.hex();
  return out;
}

void check_file(const fs::path& folder, const model::BundleFile& file, std::vector<BundleFault>& faults) {
  const auto content = read_content(folder / file.path);
  if (!content) {
    faults.push_back({file.path, "missing", "listed in the manifest, and not there any more"});
  } else if (content->bytes != file.bytes) {
    faults.push_back({file.path, "changed",
                      "has " + std::to_string(content->bytes) + " bytes, and had " +
                          std::to_string(file.bytes) + " when it was captured"});
  } else if (!file.sha256.empty() && content->sha256 != file.sha256) {
    faults.push_back({file.path, "changed", "has other content than when it was captured"});
  }
}

// A bundle of several machines holds one of each in members/NAME, whose manifest speaks for itself.
bool is_manifest_of_member(const std::string& path) {
  return path.starts_with("members/") && path.ends_with("/manifest.json") &&
         std::count(path.begin(), path.end(), '/') == 2;
}

void find_strangers(const fs::path& folder, std::set<std::string>& listed, std::vector<BundleFault>& faults) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!at->is_regular_file(error) || name.starts_with('.')) continue;
    names.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (listed.count(name) == 0 && !is_manifest_of_member(name))
      faults.push_back({name, "not_listed", "not in the manifest"});
  }
}

}  // namespace

base::Result<std::vector<BundleFault>> verify_bundle(const std::string& folder) {
  const std::string path = folder + "/manifest.json";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return base::fail(base::ErrorCode::kNoInput, path + " cannot be opened: " + folder + " is no bundle");
  std::ostringstream text;
  text << file.rdbuf();
  formats::Evidence evidence;
  formats::bundle::parse_manifest(text.str(), evidence);
  if (evidence.bundles.empty()) {
    return base::fail(
        base::ErrorCode::kData,
        path + ": " + (evidence.problems.empty() ? "no manifest" : evidence.problems.front().text));
  }
  std::vector<BundleFault> faults;
  std::set<std::string> listed{"manifest.json"};
  for (const model::BundleSource& source : evidence.bundles.front().sources) {
    for (const model::BundleFile& known : source.files) {
      if (listed.insert(known.path).second) check_file(folder, known, faults);
    }
  }
  find_strangers(folder, listed, faults);
  return faults;
}

}  // namespace unhang::collect
