// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "report/json_stream.h"
#include "report/rank_table.h"

namespace unhang::report {
namespace {

// Calls `write` for each item, with commas between.
template <class Items, class Write>
void list(JsonStream& out, const Items& items, const Write& write) {
  out.raw("[");
  bool first = true;
  for (const auto& item : items) {
    out.raw(first ? "" : ", ");
    write(item);
    first = false;
  }
  out.raw("]");
}

}  // namespace

std::string rank_table_json(const model::Case& joined) {
  std::string text;
  JsonStream out([&text](std::string_view bytes) { text += bytes; });
  out.raw("{\n  \"schema\": \"unhang.ranks/1\",\n  \"tool\": {\"name\": \"unhang\", \"version\": ");
  out.text(UNHANG_VERSION).raw("},\n  \"ranks\": ");
  list(out, joined.identities, [&](const model::RankIdentity& identity) {
    out.raw("\n    {\"rank\": ").number(identity.global_rank).raw(", \"facts\": ");
    list(out, identity.facts, [&](const model::IdentityFact& fact) {
      out.raw("{\"key\": ").text(model::name_of(fact.key)).raw(", \"value\": ").text(fact.value);
      out.raw(", \"source\": ").text(fact.source).raw(", \"file\": ");
      const bool known = fact.input && *fact.input < joined.inputs.size();
      out.text_or_null(known ? std::string_view(joined.inputs[*fact.input].path) : std::string_view())
          .raw("}");
    });
    out.raw("}");
  });
  out.raw(",\n  \"hosts\": ");
  list(out, joined.hosts, [&](const model::HostIdentity& host) {
    out.raw("\n    {\"name\": ").text(host.name).raw(", \"aliases\": ");
    list(out, host.aliases, [&](const std::string& alias) { out.text(alias); });
    out.raw(", \"ranks\": ");
    list(out, host.ranks, [&](std::int32_t rank) { out.number(rank); });
    out.raw("}");
  });
  out.raw(",\n  \"conflicts\": ");
  list(out, joined.conflicts, [&](const model::Conflict& conflict) {
    out.raw("\n    {\"file\": ").text(joined.inputs[conflict.input].path);
    out.raw(", \"text\": ").text(conflict.text).raw("}");
  });
  out.raw(",\n  \"set_aside\": ");
  list(out, joined.set_aside, [&](const model::SetAside& aside) {
    out.raw("\n    {\"file\": ").text(joined.inputs[aside.input].path);
    out.raw(", \"reason\": ").text(aside.reason).raw("}");
  });
  out.raw("\n}\n");
  out.flush();
  return text;
}

}  // namespace unhang::report
