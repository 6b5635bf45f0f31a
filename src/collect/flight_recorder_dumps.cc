// SPDX-License-Identifier: Apache-2.0
#include "collect/flight_recorder_dumps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "collect/dump_finder.h"
#include "os/child_reader.h"

namespace unhang::collect {
namespace {

// A dump on its way into the bundle.
struct Copy {
  const FoundDump* dump;
  BundleEntry entry;
  os::ReadReply seen;       // of the last reading
  bool read_twice = false;  // and the last two readings saw the same file
};

// A pickle ends with its STOP code, a JSON document with a bracket.
bool ends_like_a_dump(char last) {
  return last == '.' || last == '}' || last == ']';
}

std::string joined(const std::vector<std::string>& parts, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < parts.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + parts[i];
  if (parts.size() > most) text += " and " + std::to_string(parts.size() - most) + " more";
  return text;
}

class DumpCopier {
 public:
  DumpCopier(const DumpSearch& search, CaptureContext& context) : x_search(search), x_context(context) {}

  CopiedDumps run() {
    x_found = find_dumps(x_search, deadlines());
    for (const FoundDump& dump : x_found.dumps) {
      if (x_context.stopping()) {
        ++x_not_tried;
      } else {
        begin(dump);
      }
    }
    while (!x_unsettled.empty() && x_context.wait_until(x_context.now() + x_search.settle)) copy_again();
    for (Copy& copy : x_unsettled) close(std::move(copy), true);
    x_unsettled.clear();
    return {outcome(), x_found.dumps};
  }

 private:
  // A real file is read in real time, whatever clock rules the capture.
  os::ReadDeadlines deadlines() const {
    const auto left = std::max<std::chrono::nanoseconds>(x_context.deadline() - x_context.now(), {});
    return {.still = x_search.still, .end = std::chrono::steady_clock::now() + left};
  }

  void fail(const FoundDump& dump, const std::string& why) { x_failures.push_back(dump.path + ": " + why); }

  void begin(const FoundDump& dump) {
    if (x_total >= x_search.max_total_bytes) {
      fail(dump, "the bundle is large enough");
      return;
    }
    auto entry = x_context.open(dump.target);
    if (!entry) {
      fail(dump, entry.error().message);
      return;
    }
    Copy copy{&dump, std::move(*entry), {}, false};
    if (read(copy)) settle(std::move(copy));
  }

  // False: it could not be read or written; said already.
  bool read(Copy& copy) {
    const os::ReadRequest request{
        .root = copy.dump->root,
        .path = copy.dump->path,
        .follow_last = copy.dump->follow_last,
        .max_bytes = std::min(x_search.max_file_bytes, x_search.max_total_bytes - x_total)};
    base::Result<> written;
    os::ReadReply reply;
    os::read_in_child(
        std::span(&request, 1), deadlines(),
        [&](std::size_t, std::string_view piece) {
          x_last_byte = piece.back();
          if (written) written = copy.entry.write(piece);
        },
        [&](std::size_t, os::ReadReply said) { reply = std::move(said); });
    if (!written) {
      fail(*copy.dump, written.error().message);
      return false;
    }
    if (!reply.usable() || !reply.is_regular) {
      fail(*copy.dump, reply.usable() ? "no plain file any more" : os::reason_text(reply));
      return false;
    }
    copy.read_twice = reply.size == copy.seen.size && reply.modified_ns == copy.seen.modified_ns &&
                      reply.inode == copy.seen.inode;
    copy.seen = std::move(reply);
    return true;
  }

  bool is_settled(const Copy& copy) const {
    if (copy.seen.end == os::ReadEnd::kCut) return true;  // more of it is not kept anyway
    const bool whole = static_cast<std::uint64_t>(copy.seen.size) == copy.entry.bytes();
    return whole && (copy.read_twice || (copy.entry.bytes() > 0 && ends_like_a_dump(x_last_byte)));
  }

  void settle(Copy copy) {
    if (is_settled(copy)) {
      close(std::move(copy), false);
    } else {
      x_unsettled.push_back(std::move(copy));
    }
  }

  void copy_again() {
    std::vector<Copy> round = std::exchange(x_unsettled, {});
    for (Copy& copy : round) {
      if (x_context.stopping()) {
        x_unsettled.push_back(std::move(copy));
      } else if (const auto begun = copy.entry.rewind(); !begun) {
        fail(*copy.dump, begun.error().message);
      } else if (read(copy)) {
        settle(std::move(copy));
      }
    }
  }

  void close(Copy copy, bool growing) {
    const FoundDump& dump = *copy.dump;
    model::BundleFile facts;
    facts.captured_ns = x_context.wall_ns();
    facts.original_path = dump.path;
    facts.modified_ns = copy.seen.modified_ns;
    facts.pid = dump.pid;
    // The process may have written it anew since it was found.
    facts.stale = dump.stale && copy.seen.modified_ns == dump.modified_ns;
    facts.growing = growing;
    facts.cut = copy.seen.end == os::ReadEnd::kCut;
    x_total += copy.entry.bytes();
    x_growing += growing ? 1 : 0;
    x_cut += facts.cut ? 1 : 0;
    if (const auto closed = x_context.close(std::move(copy.entry), std::move(facts)); !closed) {
      fail(dump, closed.error().message);
    } else {
      ++x_kept;
    }
  }

  SourceOutcome outcome() const {
    SourceOutcome out;
    std::vector<std::string> reasons;
    const auto say = [&](std::size_t count, const std::string& text) {
      if (count > 0) reasons.push_back(std::to_string(count) + " " + text);
    };
    say(x_not_tried, "dumps were not copied: no time was left");
    say(x_growing, "dumps were still being written when they were copied");
    say(x_cut, "dumps were larger than the limit; their beginning was kept");
    if (!x_failures.empty()) reasons.push_back("not copied: " + joined(x_failures, 3));
    if (!x_found.notes.empty()) reasons.push_back(joined(x_found.notes, 5));
    if (x_found.dumps.empty())
      reasons.insert(reasons.begin(), "no dump was found; looked for " + joined(x_found.looked, 8));
    for (std::size_t i = 0; i < reasons.size(); ++i) out.reason += (i == 0 ? "" : "; ") + reasons[i];
    if (x_kept > 0) {
      out.status = reasons.empty() ? model::SourceStatus::kAnswered : model::SourceStatus::kPartial;
    } else if (!x_found.dumps.empty()) {
      out.status = x_not_tried > 0 ? model::SourceStatus::kSilent : model::SourceStatus::kFailed;
    } else {
      out.status = x_found.not_allowed ? model::SourceStatus::kRefused : model::SourceStatus::kMissing;
    }
    return out;
  }

  const DumpSearch& x_search;
  CaptureContext& x_context;
  FoundDumps x_found;
  std::vector<Copy> x_unsettled;
  std::vector<std::string> x_failures;
  std::uint64_t x_total = 0;
  std::size_t x_kept = 0, x_not_tried = 0, x_growing = 0, x_cut = 0;
  char x_last_byte = '\0';  // of the last file that was read
};

}  // namespace

CopiedDumps copy_dumps(const DumpSearch& search, CaptureContext& context) {
  return DumpCopier(search, context).run();
}

CaptureSource flight_recorder_source(std::string id, DumpSearch search) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "flight_recorder";
  source.asked_kind = "search";
  source.asked =
      search.paths.empty() ? "the prefixes of the workers and the defaults" : joined(search.paths, 20);
  source.run = [kept = std::make_shared<const DumpSearch>(std::move(search))](CaptureContext& context) {
    return copy_dumps(*kept, context).outcome;
  };
  return source;
}

}  // namespace unhang::collect
