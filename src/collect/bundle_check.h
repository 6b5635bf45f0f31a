// SPDX-License-Identifier: Apache-2.0
//
// Whether a bundle is still what was captured: every file that its manifest lists is there, of the stated
// size and hash. A bundle that was damaged on its way, or edited, says so here. (Who can edit a file can edit
// the manifest, too: this finds accidents, no forgery.)
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unhang::collect {

struct BundleFault {
  std::string path;  // inside the bundle
  std::string code;  // "missing", "changed", "not_listed"
  std::string text;  // for people
  bool operator==(const BundleFault&) const = default;
};

// In the order of the manifest; files that are not listed last, by name. Hidden files are not looked at.
// kNoInput when there is no manifest, kData when it cannot be read.
base::Result<std::vector<BundleFault>> verify_bundle(const std::string& folder);

}  // namespace unhang::collect
