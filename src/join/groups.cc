// SPDX-License-Identifier: Apache-2.0
#include "join/groups.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "base/check.h"

namespace unhang::join {
namespace {

using model::GroupIndex;
using model::SymbolId;

// Numbers before words, numbers by value: "2" < "10" < "tp".
std::tuple<bool, std::int64_t, std::string> natural_key(std::string_view name) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = !name.empty() && error == std::errc{} && end == name.data() + name.size();
  return {!is_number, is_number ? number : 0, is_number ? std::string() : std::string(name)};
}

class Uniter {
 public:
  Uniter(const std::vector<JoinedDump>& dumps, RankLists& lists, model::Case& joined)
      : x_dumps(dumps), x_lists(lists), x_case(joined), x_text(joined.vocabulary) {}

  std::vector<DumpGroups> unite() {
    collect_declared();
    for (std::size_t i = 0; i < x_dumps.size(); ++i) collect_recorded(i);
    add_silent_declared();
    number_groups();
    std::vector<DumpGroups> out(x_dumps.size());
    for (std::size_t i = 0; i < x_dumps.size(); ++i) {
      if (x_dumps[i].kept()) out[i] = map_dump(i);
    }
    return out;
  }

 private:
  // (name, description, backend, declared ranks or 0)
  using Key = std::tuple<SymbolId, SymbolId, SymbolId, SymbolId>;
  struct Declared {
    SymbolId description = 0;
    SymbolId ranks_text = 0;
  };

  // All declared (name, ranks); gloo's overwritten entry under the empty name says nothing.
  void collect_declared() {
    for (const JoinedDump& joined : x_dumps) {
      if (!joined.kept()) continue;
      for (const auto& group : joined.dump.declared_groups) {
        if (x_text.text(group.name).empty() || x_lists.ranks(group.ranks_text).empty()) continue;
        auto& known = x_declared[group.name];
        const bool there = std::any_of(known.begin(), known.end(),
                                       [&](const Declared& d) { return d.ranks_text == group.ranks_text; });
        if (!there) known.push_back({group.description, group.ranks_text});
      }
    }
  }

  // The declaration that a rank's operations in a group of this name belong to; null: nobody declares one
  // with it.
  const Declared* declaration(SymbolId name, std::int32_t rank) {
    const auto found = x_declared.find(name);
    if (found == x_declared.end()) return nullptr;
    for (const Declared& declared : found->second) {
      if (x_lists.contains(declared.ranks_text, rank)) return &declared;
    }
    return nullptr;
  }

  Key key_of(const JoinedDump& joined, const model::DumpGroup& group) {
    const Declared* declared = declaration(group.name, *joined.rank);
    if (declared == nullptr) return {group.name, group.description, group.backend, 0};
    return {group.name, declared->description, group.backend, declared->ranks_text};
  }

  void collect_recorded(std::size_t index) {
    const JoinedDump& joined = x_dumps[index];
    if (!joined.kept()) return;
    for (const auto& group : joined.dump.groups) {
      const Key key = key_of(joined, group);
      x_recorders[key].insert(*joined.rank);
      x_backends[{std::get<0>(key), std::get<3>(key)}].insert(std::get<2>(key));
    }
  }

  // Groups that are declared and that nobody recorded anything in: with an unknown backend.
  void add_silent_declared() {
    for (const auto& [name, declarations] : x_declared) {
      for (const Declared& declared : declarations) {
        if (x_backends.count({name, declared.ranks_text}) != 0) continue;
        x_recorders[{name, declared.description, 0, declared.ranks_text}];
        x_backends[{name, declared.ranks_text}].insert(0);
      }
    }
  }

  void number_groups() {
    std::vector<Key> keys;
    for (const auto& [key, ranks] : x_recorders) keys.push_back(key);
    const auto order = [&](const Key& key) {
      const auto& [name, description, backend, ranks] = key;
      const auto& members = x_lists.ranks(ranks);
      const std::int32_t first = members.empty() ? -1 : *std::min_element(members.begin(), members.end());
      return std::tuple(natural_key(x_text.text(name)), x_text.text(description), x_text.text(backend), first,
                        x_text.text(ranks));
    };
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) { return order(a) < order(b); });
    for (const Key& key : keys) {
      x_numbers[key] = static_cast<GroupIndex>(x_case.groups.size());
      x_case.groups.push_back(make_group(key));
    }
  }

  model::Group make_group(const Key& key) {
    const auto& [name, description, backend, ranks] = key;
    model::Group group{.name = name,
                       .description = description,
                       .backend = backend,
                       .members = {},
                       .membership = model::Membership::kDeclared,
                       .carries_p2p = false};
    if (ranks != 0) {
      for (const std::int32_t rank : x_lists.ranks(ranks)) {
        if (const auto index = x_case.find_rank(rank)) group.members.push_back(*index);
      }
      return group;
    }
    group.membership = model::Membership::kInferred;
    if (is_world(x_text, name, description)) {
      for (model::RankIndex index = 0; index < x_case.ranks.size(); ++index) group.members.push_back(index);
    } else {
      for (const std::int32_t rank : x_recorders[key]) group.members.push_back(*x_case.find_rank(rank));
    }
    return group;
  }

  DumpGroups map_dump(std::size_t index) {
    const JoinedDump& joined = x_dumps[index];
    DumpGroups out;
    std::map<std::int64_t, std::set<GroupIndex>> by_pg_id;
    for (const auto& group : joined.dump.groups) {
      const GroupIndex number = x_numbers.at(key_of(joined, group));
      out.by_dump_group.push_back(number);
      if (group.pg_id >= 0) by_pg_id[group.pg_id].insert(number);
    }
    for (const auto& status : joined.dump.status) {
      const auto found = by_pg_id.find(status.pg_id);
      // Two backends of one group share the id: whose numbers these are is not known.
      if (found != by_pg_id.end() && found->second.size() == 1)
        out.status[*found->second.begin()] = {status, false};
    }
    infer_status(joined, by_pg_id, out);
    out.member_of = out.by_dump_group;
    for (const auto& group : joined.dump.declared_groups) {
      for (const SymbolId backend : x_backends[{group.name, group.ranks_text}]) {
        const auto declared = declaration(group.name, *joined.rank);
        if (declared == nullptr) continue;
        const auto at = x_numbers.find({group.name, declared->description, backend, declared->ranks_text});
        if (at != x_numbers.end()) out.member_of.push_back(at->second);
      }
    }
    std::sort(out.member_of.begin(), out.member_of.end());
    out.member_of.erase(std::unique(out.member_of.begin(), out.member_of.end()), out.member_of.end());
    return out;
  }

  // A rank without operations in a group gives no pg_id -> group. Sorting the ids and the declared names as
  // numbers and pairing them gave the right map in every dump seen (431 of 431 operations); used only where
  // nothing contradicts it.
  void infer_status(const JoinedDump& joined, const std::map<std::int64_t, std::set<GroupIndex>>& by_pg_id,
                    DumpGroups& out) {
    std::vector<const model::DeclaredGroup*> declared;
    for (const auto& group : joined.dump.declared_groups) {
      if (x_text.text(group.name).empty()) continue;
      // Words have no order that the recorder's numbering follows.
      if (std::get<0>(natural_key(x_text.text(group.name)))) return;
      declared.push_back(&group);
    }
    std::vector<const model::GroupStatus*> status;
    for (const auto& numbers : joined.dump.status) status.push_back(&numbers);
    if (declared.empty() || declared.size() != status.size()) return;
    std::sort(declared.begin(), declared.end(), [&](const auto* a, const auto* b) {
      return natural_key(x_text.text(a->name)) < natural_key(x_text.text(b->name));
    });
    std::sort(status.begin(), status.end(), [](const auto* a, const auto* b) { return a->pg_id < b->pg_id; });
    std::vector<std::pair<GroupIndex, DumpGroups::Status>> inferred;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto& backends = x_backends[{declared[i]->name, declared[i]->ranks_text}];
      const Declared* declaration_found = declaration(declared[i]->name, *joined.rank);
      if (backends.size() != 1 || declaration_found == nullptr) continue;
      const auto at = x_numbers.find({declared[i]->name, declaration_found->description, *backends.begin(),
                                      declaration_found->ranks_text});
      if (at == x_numbers.end()) continue;
      const auto known = by_pg_id.find(status[i]->pg_id);
      if (known != by_pg_id.end() && known->second.count(at->second) == 0)
        return;  // contradicted: don't guess
      if (out.status.count(at->second) == 0) inferred.push_back({at->second, {*status[i], true}});
    }
    for (const auto& [group, numbers] : inferred) out.status[group] = numbers;
  }

  const std::vector<JoinedDump>& x_dumps;
  RankLists& x_lists;
  model::Case& x_case;
  const model::Vocabulary& x_text;
  std::map<SymbolId, std::vector<Declared>> x_declared;
  std::map<Key, std::set<std::int32_t>> x_recorders;
  std::map<std::pair<SymbolId, SymbolId>, std::set<SymbolId>> x_backends;  // (name, ranks) -> backends
  std::map<Key, GroupIndex> x_numbers;
};

}  // namespace

std::vector<DumpGroups> unite_groups(const std::vector<JoinedDump>& dumps, RankLists& lists,
                                     model::Case& joined) {
  return Uniter(dumps, lists, joined).unite();
}

}  // namespace unhang::join
