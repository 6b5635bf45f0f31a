// SPDX-License-Identifier: Apache-2.0
//
// The manifest.json of a bundle (docs/formats/bundle.md): schema unhang.bundle/1. Collected by our own
// program, but it comes from elsewhere like all evidence: nothing in it is trusted beyond its shape. A later
// number of the schema is read as far as its keys are known.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::bundle {

bool sniff_manifest(std::string_view bytes);
// Adds one model::BundleManifest when the bytes are one.
void parse_manifest(std::string_view bytes, Evidence& evidence);

// A path of a manifest that stays inside its bundle: relative, no "..", no control characters.
bool is_inside(std::string_view path);

}  // namespace unhang::formats::bundle
