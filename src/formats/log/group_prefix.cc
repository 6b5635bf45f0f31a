// SPDX-License-Identifier: Apache-2.0
#include "formats/log/group_prefix.h"

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

// "9(desc) " or "0 (default_pg) ": the name, and what stands in the brackets.
void read_name(std::string_view text, std::string_view& name, std::string_view& description) {
  name = trimmed(up_to(text, " ("));
  const auto open = text.find('(');
  if (open == text.npos) return;
  const auto close = text.rfind(')');
  if (close == text.npos || close < open) return;
  description = text.substr(open + 1, close - open - 1);
  if (description == "undefined") description = {};
}

}  // namespace

GroupPrefix read_group_prefix(std::string_view text, std::size_t end, bool bare_is_name) {
  GroupPrefix prefix;
  const std::string_view front = text.substr(0, end);
  const std::size_t group = front.rfind("[PG ");
  const std::size_t from = group != front.npos ? group : front.rfind("[Rank ");
  if (from == front.npos) return prefix;
  const std::string_view inside = up_to(front.substr(from), "]");
  prefix.rank = rank_after(inside, "Rank ");
  if (group == front.npos) return prefix;
  const std::string_view name = inside.substr(0, inside.rfind("Rank "));
  if (const auto guid = behind(name, "PG GUID ")) {
    prefix.id = trimmed(up_to(behind(name, "PG ID ").value_or(""), "P"));
    read_name(*guid, prefix.name, prefix.description);
    return prefix;
  }
  read_name(name.substr(4), prefix.name, prefix.description);
  if (prefix.description.empty() && !bare_is_name) std::swap(prefix.id, prefix.name);
  return prefix;
}

}  // namespace unhang::formats::log
