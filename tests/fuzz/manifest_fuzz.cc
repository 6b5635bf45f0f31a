// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the manifest of a bundle: the reader must end without a fault that a sanitizer sees, and must
// let no path out of the bundle through.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/bundle/bundle_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unhang::formats::bundle::sniff_manifest(bytes);
  unhang::formats::Evidence evidence;
  unhang::formats::bundle::parse_manifest(bytes, evidence);
  for (const auto& manifest : evidence.bundles) {
    for (const auto& source : manifest.sources) {
      for (const auto& file : source.files) {
        if (!unhang::formats::bundle::is_inside(file.path)) std::abort();
      }
    }
  }
  return 0;
}
