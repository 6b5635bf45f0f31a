// SPDX-License-Identifier: Apache-2.0
//
// What the manifests of bundles say about the files beside them: when each was captured, and of which process
// it tells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bundle.h"

namespace unhang::join {

struct FileFacts {
  std::int64_t captured_ns = 0;
  std::int64_t pid = -1;
  std::string host;   // on which it was captured
  std::string asked;  // the address, URL or path that it came from
  std::string note;
  std::string instance, deployment;  // of the bundle
  bool stale = false;
};

class BundleFacts {
 public:
  // `manifest_path` is where the manifest was read, inside an archive after "!". The manifest must outlive
  // this.
  void add(std::string_view manifest_path, const model::BundleManifest& manifest);

  // Null: no manifest lists that path.
  const FileFacts* find(const std::string& path) const;

 private:
  std::map<std::string, FileFacts, std::less<>> x_files;
};

}  // namespace unhang::join
