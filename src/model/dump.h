// SPDX-License-Identifier: Apache-2.0
//
// One Flight Recorder dump as read: what one process wrote about its last operations. Which rank it is, and
// whether it belongs to the job at all, is decided in join/: the dump itself does not say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/operation.h"
#include "model/vocabulary.h"

namespace unhang::model {

// One line of pg_config: a process group that the dumping process is a member of.
struct DeclaredGroup {
  SymbolId name = 0;
  SymbolId description = 0;
  SymbolId ranks_text =
      0;  // "[0, 1, 2]": global ranks in group order, as recorded (parse_rank_list reads it)
};

// Reads a ranks text. Kept as text in the dump because each of N dumps states the same N ranks. Nullopt when
// it is not such a list or names a negative rank.
std::optional<std::vector<std::int32_t>> parse_rank_list(std::string_view text);

// One line of pg_status; -1: never. What the numbers count depends on the backend (join/progress.h).
struct GroupStatus {
  std::int64_t pg_id = -1;
  std::int64_t last_enqueued = -1;
  std::int64_t last_started = -1;
  std::int64_t last_completed = -1;
};

// A (pg_id, name, description, backend) that operations of this dump name.
struct DumpGroup {
  std::int64_t pg_id = -1;  // local to the process; not comparable across ranks; -1: not recorded
  SymbolId name = 0;
  SymbolId description = 0;
  SymbolId backend = 0;  // one process group may have several, each with counters of its own

  bool operator==(const DumpGroup&) const = default;
};

struct Dump {
  std::string version;  // "2.10"; empty for the oldest form (a bare list)
  std::string comm_library_version;
  std::vector<DeclaredGroup> declared_groups;
  std::vector<GroupStatus> status;
  std::vector<DumpGroup> groups;
  std::vector<Operation> operations;  // oldest first, as recorded
  Vocabulary vocabulary;
  bool has_entries = false;  // the dump has an entries list at all (it may be empty)
  bool complete = true;      // false: cut off; what follows the last operation is not known
  bool is_json = false;
};

}  // namespace unhang::model
