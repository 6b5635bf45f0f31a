// SPDX-License-Identifier: Apache-2.0
//
// A dump on its way into the Case: its ids already point into the Case's vocabulary, its rank may be known or
// not. Internal to join/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/case.h"

namespace unhang::join {

struct JoinedDump {
  model::Dump dump;  // its own vocabulary is empty
  model::InputIndex input = 0;
  std::optional<std::int32_t> rank;
  std::string host;
  std::int64_t pid = -1;   // -1: not known
  std::string set_aside;   // why this dump is not of the job; empty: it is
  bool is_second = false;  // set aside because another dump of the same rank is used

  std::int64_t first_ns() const { return dump.operations.empty() ? 0 : dump.operations.front().created_ns; }
  std::int64_t last_ns() const { return dump.operations.empty() ? 0 : dump.operations.back().created_ns; }
  bool kept() const { return set_aside.empty(); }
};

// Whether two dumps of a rank are of one process: what both still hold was called at the same moment. Rings
// that have nothing in common any more can be of one process, too.
bool same_process(const JoinedDump& chosen, const JoinedDump& other);

// Ranks texts are the same in many dumps: each is read once.
class RankLists {
 public:
  explicit RankLists(const model::Vocabulary& vocabulary) : x_vocabulary(vocabulary) {}

  // In group order; empty when the text is no list of ranks. The reference stays valid for the life of this
  // object.
  const std::vector<std::int32_t>& ranks(model::SymbolId text);
  bool contains(model::SymbolId text, std::int32_t rank);

 private:
  struct List {
    std::vector<std::int32_t> in_order;
    std::vector<std::int32_t> sorted;
  };
  const List& list(model::SymbolId text);

  const model::Vocabulary& x_vocabulary;
  std::unordered_map<model::SymbolId, List> x_lists;
};

// The group that PyTorch makes for the whole job.
bool is_world(const model::Vocabulary& vocabulary, model::SymbolId name, model::SymbolId description);

// pg_config's ranks of the world group; 0 when this dump does not declare it (gloo does not, reference bug
// of 2.14).
model::SymbolId world_text(const model::Vocabulary& vocabulary, const model::Dump& dump);

}  // namespace unhang::join
