// SPDX-License-Identifier: Apache-2.0
//
// The bundle of one member inside the bundle of the whole job, while it arrives: members/NAME/… with its own
// manifest. What comes is a stranger's: only what BundleTarReader takes, each path once, and no deeper than a
// bundle is.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "collect/bundle_tar.h"
#include "collect/capture.h"

namespace unhang::collect {

class MemberBundle {
 public:
  // `folder`: "members/gpu-b07". The context must outlive this.
  MemberBundle(CaptureContext& context, std::string folder, BundleTarLimits limits = {});

  // The next bytes. False: no more of it is wanted; fault() says why.
  bool feed(std::string_view bytes);

  bool complete() const { return x_reader.complete(); }
  bool any() const { return x_kept > 0 || x_has_manifest; }
  std::string fault() const { return x_fault.empty() ? x_reader.fault() : x_fault; }
  // What came instead of a bundle; for people, at most 200 bytes.
  std::string_view preamble() const { return x_reader.begun() ? std::string_view() : x_reader.preamble(); }

 private:
  bool begin(const std::string& path, std::uint64_t bytes);
  bool bytes(std::string_view bytes);
  bool end();
  bool end_manifest();
  bool refuse(std::string why);

  CaptureContext& x_context;
  std::string x_folder;
  BundleTarReader x_reader;
  std::set<std::string> x_paths;
  std::optional<BundleEntry> x_entry;  // of the file that arrives; none: it is the manifest
  std::string x_manifest;
  bool x_has_manifest = false;
  std::size_t x_kept = 0;
  std::string x_fault;
};

}  // namespace unhang::collect
