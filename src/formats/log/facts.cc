// SPDX-License-Identifier: Apache-2.0
#include "formats/log/facts.h"

#include <functional>
#include <utility>

#include "base/printable.h"
#include "base/redaction.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kOrigins = 1 << 16;
constexpr std::size_t kEvents = 1 << 17;
constexpr std::size_t kTimeouts = 1 << 16;
constexpr std::size_t kTextBytes = 200;

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
}

void mix(std::uint64_t& hash, std::string_view value) {
  if (value.empty()) return mix(hash, std::uint64_t{0});
  mix(hash, std::hash<std::string_view>()(value));
}

// So that neighbouring numbers do not share a bucket.
std::uint64_t spread(std::uint64_t hash) {
  hash = (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(const model::LogOrigin& origin) {
  std::uint64_t hash = 0;
  mix(hash, origin.host);
  mix(hash, origin.label);
  mix(hash, static_cast<std::uint64_t>(origin.pid));
  mix(hash, static_cast<std::uint64_t>(origin.global_rank));
  mix(hash, static_cast<std::uint64_t>(origin.local_rank));
  mix(hash, static_cast<std::uint64_t>(origin.cuda_device));
  return spread(hash);
}

std::uint64_t hash_of(const model::LogEvent& event) {
  std::uint64_t hash = static_cast<std::uint64_t>(event.kind);
  mix(hash, event.origin);
  mix(hash, event.run);
  mix(hash, static_cast<std::uint64_t>(event.code));
  mix(hash, static_cast<std::uint64_t>(event.rank));
  mix(hash, event.subject);
  mix(hash, event.peer);
  mix(hash, event.detail);
  return spread(hash);
}

bool same(const model::LogEvent& a, const model::LogEvent& b) {
  return a.kind == b.kind && a.origin == b.origin && a.run == b.run && a.code == b.code && a.rank == b.rank &&
         a.subject == b.subject && a.peer == b.peer && a.detail == b.detail;
}

}  // namespace

std::string shown(std::string_view text) {
  // Before the cut: a prompt that ends beyond it is one all the same.
  if (base::may_hold_secret(text)) {
    const std::string redacted = base::redact_line(text);
    if (redacted != text) return shown(redacted);
  }
  if (text.size() > kTextBytes) {
    std::size_t end = kTextBytes;
    while (end > kTextBytes - 4 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
    text = text.substr(0, end);
  }
  return base::printable(text);
}

std::uint32_t Facts::origin(const model::LogOrigin& origin) {
  const std::uint64_t hash = hash_of(origin);
  const auto [from, to] = x_origins.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    if (x_log.origins[it->second] == origin) return it->second;
  }
  if (x_log.origins.size() >= kOrigins) {
    ++x_log.forgotten;
    return 0;
  }
  const auto index = static_cast<std::uint32_t>(x_log.origins.size());
  x_log.origins.push_back(origin);
  x_origins.emplace(hash, index);
  return index;
}

bool Facts::again(std::uint32_t known, const model::LogEvent& event, const Line& line) {
  if (known >= x_log.events.size()) return false;
  model::LogEvent& old = x_log.events[known];
  if (!same(old, event)) return false;
  ++old.count;
  old.last_line = line.number;
  if (line.time.known()) old.last = line.time;
  if (!old.first.known()) old.first = line.time;
  return true;
}

void Facts::add(model::LogEvent event, const Line& line) {
  event.origin = line.origin;
  event.run = x_run;
  std::uint32_t& recent = x_recent[hash_of(event) % kRecent];
  if (again(recent, event, line)) return;
  if (base::may_hold_secret(event.detail)) event.detail = base::redact_line(event.detail);
  const std::uint64_t hash = hash_of(event);
  const auto [from, to] = x_events.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    if (!again(it->second, event, line)) continue;
    recent = it->second;
    return;
  }
  if (x_log.events.size() >= kEvents) {
    ++x_log.forgotten;
    return;
  }
  event.line = event.last_line = line.number;
  event.first = event.last = line.time;
  event.text = shown(event.text.empty() ? line.message : std::string_view(event.text));
  recent = static_cast<std::uint32_t>(x_log.events.size());
  x_events.emplace(hash, recent);
  x_log.events.push_back(std::move(event));
}

void Facts::add(model::WatchdogTimeout timeout, const Line& line) {
  if (x_log.timeouts.size() >= kTimeouts) {
    ++x_log.forgotten;
    return;
  }
  timeout.origin = line.origin;
  timeout.run = x_run;
  if (timeout.line == 0) timeout.line = line.number;
  if (!timeout.at.known()) timeout.at = line.time;
  x_log.timeouts.push_back(std::move(timeout));
}

void Facts::start_run() {
  ++x_run;
  x_log.runs = x_run + 1;
}

}  // namespace unhang::formats::log
