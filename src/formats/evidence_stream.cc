// SPDX-License-Identifier: Apache-2.0
#include "formats/evidence_stream.h"

#include <utility>

#include "formats/catalogue.h"
#include "formats/log/log.h"

namespace unhang::formats {
namespace {

constexpr std::string_view kLog = "log";
constexpr std::size_t kKeptBeginning = 256 << 10;

}  // namespace

EvidenceStream::EvidenceStream(std::string path, std::string_view first, unsigned threads)
    : x_path(std::move(path)), x_beginning(first.substr(0, kKeptBeginning)), x_reader(threads) {}

Evidence EvidenceStream::finish() {
  model::Log log = x_reader.finish();
  Evidence evidence;
  x_stacks.finish(evidence);
  // Nothing recognised: what the format says of the beginning holds for all of it.
  if (log.empty()) {
    Evidence beginning = read_evidence(x_path, x_beginning);
    if (beginning.kind != kLog && evidence.process_samples.empty()) return beginning;
  }
  evidence.path = std::move(x_path);
  evidence.kind = kLog;
  evidence.logs.push_back(std::move(log));
  return evidence;
}

std::unique_ptr<EvidenceStream> stream_evidence(std::string path, std::string_view first, unsigned threads) {
  if (log::is_utf16(first)) return nullptr;  // its reader says what to do
  for (const Format& format : format_catalogue()) {
    if (!format.sniff(first.substr(0, kSniffBytes))) continue;
    return format.id == kLog ? std::make_unique<EvidenceStream>(std::move(path), first, threads) : nullptr;
  }
  return nullptr;
}

}  // namespace unhang::formats
