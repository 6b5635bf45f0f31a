// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a verdict of an earlier incident: the reader must end without a fault that a sanitizer sees,
// and what it lets through must be within its bounds and do no harm to the comparison.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/recurrence.h"
#include "formats/verdict_document/verdict_document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unhang::formats::verdict_document::sniff(bytes);
  const auto earlier = unhang::formats::verdict_document::read_verdict("old.json", bytes);
  if (!earlier) return 0;
  if (earlier->category.empty() || earlier->culprits.size() > 4096) std::abort();
  unhang::model::Verdict verdict;
  verdict.culprits = earlier->culprits;
  verdict.suspects = earlier->suspects;
  verdict.where.group = "another";  // a different incident of the same subjects
  unhang::detect::compare_with_history({*earlier}, verdict);
  for (const auto& recurrence : verdict.history) {
    if (recurrence.times < 2 || recurrence.subject.empty()) std::abort();
  }
  return 0;
}
