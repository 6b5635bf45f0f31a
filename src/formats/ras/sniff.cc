// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "formats/ras/event_line.h"
#include "formats/ras/object_span.h"
#include "formats/ras/ras.h"
#include "formats/ras/stream.h"

namespace unhang::formats::ras {
namespace {

// Whether `fits` holds for a line; it gets the line and what comes after it.
template <class Fits>
bool any_line(std::string_view bytes, Fits&& fits) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (fits(line, bytes)) return true;
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return false;
}

bool has_all(std::string_view bytes, std::initializer_list<std::string_view> keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return bytes.find(key) != std::string_view::npos; });
}

// An object that begins a line and has these keys. The keys of an object cut off by the sniffing are its
// first.
bool any_object(std::string_view bytes,
                std::initializer_list<std::initializer_list<std::string_view>> shapes) {
  std::size_t looked_at = 0;
  return any_line(bytes, [&](std::string_view line, std::string_view rest) {
    const std::size_t at = line.find_first_not_of(" \t");
    const std::size_t offset = bytes.size() - rest.size();
    if (at == std::string_view::npos || line[at] != '{' || offset < looked_at) return false;
    const std::string_view object = object_at(rest.substr(at)).text;
    looked_at = offset + at + object.size();
    return std::any_of(shapes.begin(), shapes.end(), [&](const auto& keys) { return has_all(object, keys); });
  });
}

}  // namespace

bool sniff_text(std::string_view bytes) {
  bool version = false;
  return any_line(bytes, [&](std::string_view line, std::string_view) {
    if (line.starts_with("SERVER PROTOCOL ") || line.starts_with("Communicators... (")) return true;
    if (version && (line.starts_with("CUDA runtime version ") || line == "Job summary")) return true;
    // Logs of NCCL have version lines, too, but not of this form.
    if (line.starts_with("NCCL version ") && line.find(" compiled with CUDA") != std::string_view::npos) {
      version = true;
    }
    return false;
  });
}

bool sniff_json(std::string_view bytes) {
  return any_object(bytes, {{"\"communicators\"", "\"nccl_version\""},
                            {"\"secondary_hash\"", "\"missing_ranks_count\""},
                            {"\"nccl_version\"", "\"cuda_runtime_version\"", "\"cuda_driver_version\""}});
}

bool sniff_events(std::string_view bytes) {
  if (any_line(bytes,
               [](std::string_view line, std::string_view) { return read_event_line(line).has_value(); })) {
    return true;
  }
  return any_object(bytes,
                    {{"\"LIFECYCLE\"", "\"event\"", "\"peer\""}, {"\"TRACE\"", "\"event\"", "\"peer\""}});
}

void parse_text(std::string_view bytes, Evidence& evidence) {
  read_stream(bytes, evidence);
}

void parse_json(std::string_view bytes, Evidence& evidence) {
  read_stream(bytes, evidence);
}

void parse_events(std::string_view bytes, Evidence& evidence) {
  read_stream(bytes, evidence);
}

}  // namespace unhang::formats::ras
