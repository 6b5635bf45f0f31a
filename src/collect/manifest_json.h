// SPDX-License-Identifier: Apache-2.0
//
// A bundle's manifest as the bytes of its manifest.json (docs/formats/bundle.md); formats/bundle reads them.
#pragma once

#include <string>

#include "model/bundle.h"

namespace unhang::collect {

// Bytes that are no UTF-8 are replaced. The same values give the same bytes.
std::string manifest_json(const model::BundleManifest& manifest);

}  // namespace unhang::collect
