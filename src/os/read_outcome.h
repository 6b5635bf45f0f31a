// SPDX-License-Identifier: Apache-2.0
//
// For tests only: everything that one read_evidence() says, to compare.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "os/evidence_reader.h"

namespace unhang::os::fixture {

struct ReadOutcome {
  std::vector<std::pair<std::string, std::string>> blobs;  // path without the folder of the test, bytes
  std::vector<ReadTrouble> troubles;

  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const auto& blob : blobs) out.push_back(blob.first);
    return out;
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> out;
    for (const auto& trouble : troubles) out.push_back(trouble.code);
    return out;
  }
};

inline ReadOutcome read_all(const std::string& path, const ReadLimits& limits = {}) {
  const std::size_t folder = path.rfind('/') + 1;  // 0 when there is none
  ReadOutcome out;
  std::string scratch;
  read_evidence(
      path, limits, scratch,
      [&](const std::string& name, std::string_view bytes) {
        out.blobs.emplace_back(name.substr(folder), bytes);
      },
      [&](ReadTrouble trouble) {
        trouble.path.erase(0, folder);
        out.troubles.push_back(std::move(trouble));
      });
  return out;
}

}  // namespace unhang::os::fixture
