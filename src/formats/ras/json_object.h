// SPDX-License-Identifier: Apache-2.0
//
// One JSON object of the RAS service: an answer, or an event of MONITOR.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/ras/object_span.h"
#include "formats/ras/reading.h"

namespace unhang::formats::ras {

class JsonObjects {
 public:
  explicit JsonObjects(Reading& reading);
  ~JsonObjects();
  JsonObjects(const JsonObjects&) = delete;
  JsonObjects& operator=(const JsonObjects&) = delete;

  // Reads what is in `object`, which may lack its end. `line` and `offset` say where it begins in the file.
  // Needs memory for one copy of a communicator and the parser's index of it; where the layout is not NCCL's,
  // for the whole object.
  void read(const ObjectSpan& object, std::uint64_t line, std::uint64_t offset);

 private:
  class Parser;
  std::unique_ptr<Parser> x_parser;
};

}  // namespace unhang::formats::ras
