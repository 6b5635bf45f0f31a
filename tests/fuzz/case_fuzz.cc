// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the dumps of two ranks, through the whole path: recognised, read, joined, diagnosed. What a
// reader lets through must not break what stands behind it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "detect/resolve.h"
#include "detect/slow_report.h"
#include "formats/catalogue.h"
#include "join/join.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Different halves for the two ranks when the input is long enough, so that they can disagree.
  const std::size_t half = size / 2;
  std::vector<unhang::formats::Evidence> batch;
  batch.push_back(unhang::formats::read_evidence("trace_0", bytes));
  batch.push_back(unhang::formats::read_evidence("trace_1", bytes));
  batch.push_back(unhang::formats::read_evidence("trace_2", bytes.substr(half)));
  unhang::join::CaseBuilder builder(1);
  builder.add(std::move(batch));
  const unhang::model::Case joined = builder.finish({});
  (void)unhang::detect::diagnose(joined);
  (void)unhang::detect::slow_report(unhang::detect::analyse(joined));
  return 0;
}
