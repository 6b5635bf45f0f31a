// SPDX-License-Identifier: Apache-2.0
#include "formats/log/timeout_records.h"

#include <algorithm>
#include <utility>

namespace unhang::formats::log {
namespace {

// Records with the same key that are looked at: bounds the time for a file made to collide.
constexpr std::size_t kSameKey = 32;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ (value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2))) * 0xff51afd7ed558ccdull;
}

std::uint64_t key_of_writer(std::uint32_t origin, std::uint32_t run, std::int32_t rank,
                            std::int64_t sequence) {
  return mixed(mixed(mixed(origin + 1, run), static_cast<std::uint64_t>(rank)),
               static_cast<std::uint64_t>(sequence));
}

std::uint64_t key_of_words(std::uint32_t run, std::int32_t rank, std::int64_t sequence, std::int64_t ran_ms) {
  return mixed(mixed(mixed(run + 1, static_cast<std::uint64_t>(rank)), static_cast<std::uint64_t>(sequence)),
               static_cast<std::uint64_t>(ran_ms));
}

bool agree(std::int64_t a, std::int64_t b) {
  return a == b || a < 0 || b < 0;
}
bool agree(std::string_view a, std::string_view b) {
  return a == b || a.empty() || b.empty();
}

// Names are compared where both have one, else counts; a bare "[PG 3 Rank 4]" may be either.
bool same_group(const model::WatchdogTimeout& known, const GroupPrefix& group) {
  if (!known.group.empty() && !group.name.empty()) return known.group == group.name;
  if (!known.group_id.empty() && !group.id.empty()) return known.group_id == group.id;
  if (!known.group.empty() && !group.id.empty()) return known.group == group.id;
  if (!known.group_id.empty() && !group.name.empty()) return known.group_id == group.name;
  return true;
}

bool has_group(const model::WatchdogTimeout& known) {
  return !known.group.empty() || !known.group_id.empty();
}

bool same_work(const model::WatchdogTimeout& known, const CollectiveWork& work) {
  return agree(known.operation, work.operation) && agree(known.elements_in, work.elements_in) &&
         agree(known.elements_out, work.elements_out) && agree(known.timeout_ms, work.timeout_ms) &&
         agree(known.ran_ms, work.ran_ms);
}

void complete(std::int64_t& known, std::int64_t told) {
  if (known < 0) known = told;
}
void complete(std::string& known, std::string_view told) {
  if (known.empty() && !told.empty()) known = shown(told);
}

void complete(model::WatchdogTimeout& known, const GroupPrefix& group) {
  // A bare number that is known as the name already.
  if (!group.name.empty() || known.group != group.id) complete(known.group_id, group.id);
  complete(known.group, group.name);
  complete(known.group_description, group.description);
}

void complete(model::WatchdogTimeout& known, const TimeoutRecords::Told& told) {
  const bool only_state = known.operation.empty() && !known.cut;
  if (!told.work.cut) known.cut = false;
  if (told.work.cut && only_state) known.cut = true;
  complete(known, told.group);
  complete(known.operation, told.work.operation);
  complete(known.elements_in, told.work.elements_in);
  complete(known.elements_out, told.work.elements_out);
  complete(known.timeout_ms, told.work.timeout_ms);
  complete(known.ran_ms, told.work.ran_ms);
  known.collapsed = std::max(known.collapsed, told.collapsed);
  known.blocking_wait = known.blocking_wait || told.blocking_wait;
}

}  // namespace

void TimeoutRecords::remember(Index& index, std::uint64_t key, std::uint32_t record) {
  auto& records = index[key];
  if (records.size() >= kSameKey) records.erase(records.begin());
  records.push_back(record);
}

model::WatchdogTimeout* TimeoutRecords::known(const Told& told, const Line& line, Facts& facts) {
  auto& timeouts = facts.log().timeouts;
  const auto look = [&](const Index& index, std::uint64_t key) -> model::WatchdogTimeout* {
    const auto it = index.find(key);
    if (it == index.end()) return nullptr;
    for (auto record = it->second.rbegin(); record != it->second.rend(); ++record) {
      model::WatchdogTimeout& timeout = timeouts[*record];
      if (timeout.sequence == told.work.sequence && timeout.group_rank == told.group.rank &&
          same_work(timeout, told.work) && same_group(timeout, told.group)) {
        return &timeout;
      }
    }
    return nullptr;
  };
  const std::uint64_t writer = key_of_writer(line.origin, facts.run(), told.group.rank, told.work.sequence);
  if (auto* timeout = look(x_of_writer, writer)) return timeout;
  if (!told.repeats) return nullptr;
  return look(x_by_words, key_of_words(facts.run(), told.group.rank, told.work.sequence, told.work.ran_ms));
}

void TimeoutRecords::add_new(model::WatchdogTimeout timeout, const Line& line, Facts& facts) {
  const auto index = static_cast<std::uint32_t>(facts.log().timeouts.size());
  const std::uint64_t writer = key_of_writer(line.origin, facts.run(), timeout.group_rank, timeout.sequence);
  const std::uint64_t words = key_of_words(facts.run(), timeout.group_rank, timeout.sequence, timeout.ran_ms);
  facts.add(std::move(timeout), line);
  if (facts.log().timeouts.size() == index) return;  // beyond the bound
  remember(x_of_writer, writer, index);
  remember(x_by_words, words, index);
}

void TimeoutRecords::add(const Told& told, const Line& line, Facts& facts) {
  if (auto* timeout = known(told, line, facts)) {
    complete(*timeout, told);
    return;
  }
  model::WatchdogTimeout timeout;
  timeout.group_rank = told.group.rank;
  timeout.sequence = told.work.sequence;
  timeout.cut = told.work.cut;
  complete(timeout, told);
  add_new(std::move(timeout), line, facts);
}

void TimeoutRecords::add_state(const GroupPrefix& group, std::int64_t sequence, std::int64_t enqueued,
                               std::int64_t completed, std::int64_t collapsed, const Line& line,
                               Facts& facts) {
  model::WatchdogTimeout* found = nullptr;
  const auto it = x_of_writer.find(key_of_writer(line.origin, facts.run(), group.rank, sequence));
  if (it != x_of_writer.end()) {
    for (const std::uint32_t record : it->second) {
      model::WatchdogTimeout& timeout = facts.log().timeouts[record];
      if (timeout.sequence != sequence || timeout.group_rank != group.rank || !same_group(timeout, group)) {
        continue;
      }
      // Threads of several groups print at once: the earliest that has no group yet is the likeliest.
      if (found == nullptr || (has_group(timeout) && !has_group(*found))) found = &timeout;
    }
  }
  if (found == nullptr) {
    model::WatchdogTimeout timeout;
    timeout.group_rank = group.rank;
    timeout.sequence = sequence;
    timeout.last_enqueued = enqueued;
    timeout.last_completed = completed;
    timeout.collapsed = collapsed;
    complete(timeout, group);
    add_new(std::move(timeout), line, facts);
    return;
  }
  complete(*found, group);
  complete(found->last_enqueued, enqueued);
  complete(found->last_completed, completed);
  found->collapsed = std::max(found->collapsed, collapsed);
}

}  // namespace unhang::formats::log
