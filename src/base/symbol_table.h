// SPDX-License-Identifier: Apache-2.0
//
// Keeps each distinct string once and names it by a small number, so that millions of operations can share a
// few thousand names. Not thread-safe while adding; safe for any number of readers afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace unhang::base {

class SymbolTable {
 public:
  using Id = std::uint32_t;

  SymbolTable() { intern(""); }  // id 0 is always the empty string
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // Ids are given in order of first use, without gaps.
  Id intern(std::string_view text) {
    if (const auto found = x_ids.find(text); found != x_ids.end()) return found->second;
    x_texts.emplace_back(text);
    const Id id = static_cast<Id>(x_texts.size() - 1);
    x_ids.emplace(x_texts.back(), id);
    return id;
  }

  // The view stays valid for the life of the table. `id` must come from this table.
  std::string_view text(Id id) const { return x_texts[id]; }
  std::size_t size() const { return x_texts.size(); }

 private:
  std::deque<std::string> x_texts;  // a deque never moves its elements: the map's keys point into it
  std::unordered_map<std::string_view, Id> x_ids;
};

}  // namespace unhang::base
