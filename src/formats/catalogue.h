// SPDX-License-Identifier: Apache-2.0
//
// The input formats, in order of detection. A file is recognised by its content, never by its name. Adding a
// format is one folder here and one line in catalogue.cc.
#pragma once

#include <span>
#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats {

struct Format {
  std::string_view id;     // "flight_recorder_pickle": stable, part of the verdict schema
  std::string_view title;  // for people
  std::string_view doc;    // page under docs/formats/
  // Whether the bytes look like this format. Cheap: reads at most the first kSniffBytes.
  bool (*sniff)(std::string_view bytes);
  // Adds what is there to `evidence`, and a problem for each thing that cannot be read. Never throws for bad
  // input.
  void (*parse)(std::string_view bytes, Evidence& evidence);
};

inline constexpr std::size_t kSniffBytes = 64 * 1024;

std::span<const Format> format_catalogue();

// Recognises and parses one file. Safe to call from several threads at once.
Evidence read_evidence(std::string path, std::string_view bytes);

}  // namespace unhang::formats
