// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a text log: the reader must end without a fault that a sanitizer sees, and its result must not
// depend on where the blocks ended.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/log/log.h"
#include "formats/log/reader.h"

namespace {

unhang::model::Log read_in_blocks(std::string_view bytes, std::size_t block) {
  unhang::formats::log::LogReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += block) reader.feed(bytes.substr(at, block));
  return reader.finish();
}

bool same(const unhang::model::Log& a, const unhang::model::Log& b) {
  if (a.lines != b.lines || a.recognised != b.recognised || a.nccl_lines != b.nccl_lines ||
      a.runs != b.runs || a.forgotten != b.forgotten || a.last_text != b.last_text ||
      a.origins != b.origins || a.first.ns != b.first.ns || a.last.ns != b.last.ns ||
      a.events.size() != b.events.size() || a.communicators.size() != b.communicators.size() ||
      a.calls.size() != b.calls.size() || a.timeouts.size() != b.timeouts.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    const auto &x = a.events[i], &y = b.events[i];
    if (x.kind != y.kind || x.line != y.line || x.count != y.count || x.text != y.text || x.code != y.code)
      return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unhang::formats::log::sniff(bytes);
  const unhang::model::Log whole = read_in_blocks(bytes, size + 1);
  if (!same(whole, read_in_blocks(bytes, 1)) || !same(whole, read_in_blocks(bytes, 13))) __builtin_trap();
  for (const auto& event : whole.events) {
    if (event.origin >= whole.origins.size() || event.text.size() > 1000) __builtin_trap();
  }
  for (const auto& call : whole.calls) {
    if (call.communicator >= whole.communicators.size()) __builtin_trap();
  }
  return 0;
}
