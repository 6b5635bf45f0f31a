// SPDX-License-Identifier: Apache-2.0
//
// The tables that give numbers to values: SymbolTable, KeyIndex.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/key_index.h"
#include "base/symbol_table.h"

namespace unhang::base {
namespace {

TEST(SymbolTable, NumbersInOrderOfFirstUse) {
  SymbolTable table;
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.intern(""), 0u);
  EXPECT_EQ(table.intern("a"), 1u);
  EXPECT_EQ(table.intern("b"), 2u);
  EXPECT_EQ(table.intern("a"), 1u);
  EXPECT_EQ(table.intern(std::string_view("a\0b", 3)), 3u);
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.text(3).size(), 3u);
}

TEST(SymbolTable, TextsStayWhereTheyAre) {
  SymbolTable table;
  const std::string_view first = table.text(table.intern("short"));
  const char* const place = first.data();
  for (int i = 0; i < 10000; ++i) table.intern("text " + std::to_string(i));
  EXPECT_EQ(first, "short");
  const SymbolTable moved = std::move(table);
  EXPECT_EQ(moved.text(1).data(), place);
}

TEST(SymbolTable, AgreesWithAMap) {
  EXPECT_TRUE(rc::check("same text, same number", [](const std::vector<std::string>& texts) {
    SymbolTable table;
    std::map<std::string, SymbolTable::Id> model{{"", 0}};
    for (const std::string& text : texts) {
      const auto id = table.intern(text);
      RC_ASSERT(model.emplace(text, model.size()).first->second == id);
      RC_ASSERT(table.text(id) == text);
    }
    RC_ASSERT(table.size() == model.size());
  }));
}

TEST(KeyIndex, CallsBackForNewKeysOnly) {
  KeyIndex index;
  int added = 0;
  const auto on_new = [&] { ++added; };
  EXPECT_EQ(index.add("x", on_new), 0u);
  EXPECT_EQ(index.add("", on_new), 1u);
  EXPECT_EQ(index.add("x", on_new), 0u);
  EXPECT_EQ(index.add(std::string_view("x\0", 2), on_new), 2u);
  EXPECT_EQ(added, 3);
  EXPECT_EQ(index.size(), 3u);
}

TEST(KeyIndex, KeysAreCopies) {
  KeyIndex index;
  std::string key = "first";
  index.add(key, [] {});
  key = "other";
  EXPECT_EQ(index.add("first", [] {}), 0u);
  EXPECT_EQ(index.add("other", [] {}), 1u);
}

}  // namespace
}  // namespace unhang::base
