// SPDX-License-Identifier: Apache-2.0
#include "join/bundle_facts.h"

namespace unhang::join {

void BundleFacts::add(std::string_view manifest_path, const model::BundleManifest& manifest) {
  const std::size_t end = manifest_path.find_last_of("/!");
  const std::string folder(manifest_path.substr(0, end == std::string_view::npos ? 0 : end + 1));
  for (const model::BundleSource& source : manifest.sources) {
    // Its own manifest knows more: the outer one only when it arrived.
    if (source.kind == "member") continue;
    for (const model::BundleFile& file : source.files) {
      x_files[folder + file.path] = {file.captured_ns, file.pid,          manifest.host,       source.asked,
                                     file.note,        manifest.instance, manifest.deployment, file.stale};
    }
  }
}

const FileFacts* BundleFacts::find(const std::string& path) const {
  const auto at = x_files.find(path);
  return at == x_files.end() ? nullptr : &at->second;
}

}  // namespace unhang::join
