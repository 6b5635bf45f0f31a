// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_pieces.h"

#include <algorithm>

namespace unhang::formats::ras {

std::optional<JsonPieces> cut_into_pieces(const ObjectSpan& object) {
  constexpr std::string_view kList = "\n  \"communicators\": [\n";
  constexpr std::string_view kBegin = "    {";
  const std::string_view text = object.text;
  const std::size_t list = object.closes.empty() ? std::string_view::npos : text.find(kList);
  if (list == std::string_view::npos) return std::nullopt;
  JsonPieces out;
  std::size_t at = list + kList.size();
  auto line = static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + at, '\n'));
  for (const ObjectSpan::Close& close : object.closes) {
    if (close.end <= at || !text.substr(at).starts_with(kBegin)) return std::nullopt;
    at += kBegin.size() - 1;
    out.communicators.push_back({text.substr(at, close.end - at), line});
    at = close.end;
    if (text.substr(at).starts_with("\n  ]")) {
      out.around = text.substr(0, list + kList.size());
      out.around += text.substr(at);
      return out;
    }
    if (!text.substr(at).starts_with(",\n")) return std::nullopt;
    at += 2;
    line = close.lines + 1;
  }
  return std::nullopt;
}

}  // namespace unhang::formats::ras
