// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_pieces.h"

namespace unhang::formats::ras {

std::optional<JsonPieces> cut_into_pieces(std::string_view object) {
  constexpr std::string_view kList = "\n  \"communicators\": [\n";
  constexpr std::string_view kBegin = "    {";
  constexpr std::string_view kEnd = "\n    }";
  const std::size_t list = object.find(kList);
  if (list == std::string_view::npos) return std::nullopt;
  JsonPieces out;
  std::size_t at = list + kList.size();
  while (true) {
    if (!object.substr(at).starts_with(kBegin)) return std::nullopt;
    const std::size_t last_line = object.find(kEnd, at);
    if (last_line == std::string_view::npos) return std::nullopt;
    const std::size_t end = last_line + kEnd.size();
    at += kBegin.size() - 1;
    out.communicators.push_back(object.substr(at, end - at));
    at = end;
    if (object.substr(at).starts_with("\n  ]")) break;
    if (!object.substr(at).starts_with(",\n")) return std::nullopt;
    at += 2;
  }
  out.around = object.substr(0, list + kList.size());
  out.around += object.substr(at);
  return out;
}

}  // namespace unhang::formats::ras
