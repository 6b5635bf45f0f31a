// SPDX-License-Identifier: Apache-2.0
//
// Long text logs, read block by block: the one format whose files may be larger than memory. Everything else
// is parsed as a whole (catalogue.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/evidence.h"
#include "formats/log/reader.h"
#include "formats/stacks/embedded_stacks.h"

namespace unhang::formats {

// Gives what read_evidence() gives of the same bytes, with the memory of a log::LogReader.
class EvidenceStream {
 public:
  EvidenceStream(std::string path, std::string_view first, unsigned threads);

  // Blocks may end anywhere. The beginning that the stream was made with is fed as well.
  void feed(std::string_view bytes) {
    x_reader.feed(bytes);
    x_stacks.feed(bytes);
  }
  // Once, last.
  Evidence finish();

 private:
  std::string x_path;
  std::string x_beginning;  // whether a text in which nothing was recognised is the log of a job
  log::LogReader x_reader;
  stacks::EmbeddedStacks x_stacks;
};

// A stream for the file that begins with `first` (at least kSniffBytes, unless it is shorter), where its
// format can be read as one; a null pointer where it has to be whole. `threads`: how many may read it.
std::unique_ptr<EvidenceStream> stream_evidence(std::string path, std::string_view first, unsigned threads);

}  // namespace unhang::formats
