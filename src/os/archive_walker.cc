// SPDX-License-Identifier: Apache-2.0
#include "os/archive_walker.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "os/content_kind.h"
#include "os/zip_directory.h"

namespace unhang::os {
namespace {

constexpr std::uint64_t kLargestZipDirectory = 32ull << 20;
constexpr std::size_t kFdBlockBytes = 128 << 10;
constexpr std::size_t kLongestName = 4096;
constexpr std::uint64_t kTarBlockBytes = 512;
constexpr int kMostRestarts = 16;  // each reads the directory of a zip again

struct FreeArchive {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using ArchiveHandle = std::unique_ptr<archive, FreeArchive>;

// Which bytes of members come from decompression and are charged. A tar adds nothing but the holes of sparse
// files.
enum class Charging { kHolesOnly, kEverything };
// Whether one damaged or oversized member can be passed over without decompressing all of it.
enum class Skipping { kCheap, kCostly };
// What to do when not even the first header can be read: say so, or leave that to the caller, who has another
// way.
// With kLeave the input can be opened again, so a member that breaks the handle need not be the last one.
enum class StartFailure { kTell, kLeave };

std::string library_text(archive* handle) {
  const char* text = archive_error_string(handle);
  return text != nullptr ? base::printable(text) : "damaged data";
}

std::string member_name(archive_entry* entry, std::uint64_t number) {
  // Without a locale a name that is declared to be UTF-8 is only there as UTF-8.
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  if (name == nullptr || *name == '\0') return "(member " + std::to_string(number) + ")";
  const std::string_view bytes = name;  // a tar may give it a megabyte
  return bytes.size() <= kLongestName ? base::printable(bytes)
                                      : base::printable(bytes.substr(0, kLongestName)) + "…";
}

class Walk {
 public:
  enum class End {
    kComplete,
    kBroken,      // told
    kAtStart,     // not even the first header could be read; told unless StartFailure::kLeave
    kMemberLost,  // one member broke the handle, which is told; run() on a new one goes on behind it
  };

  Walk(ByteSource* source, Charging charging, Skipping skipping, StartFailure on_start_failure,
       const WalkContext& context)
      : x_source(source),
        x_charging(charging),
        x_skipping(skipping),
        x_on_start_failure(on_start_failure),
        x_context(context) {}

  // Goes on behind the headers that earlier runs have seen.
  End run(archive* handle) {
    x_archive = handle;
    for (std::uint64_t passed = 0;; ++passed) {
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(x_archive, &entry);
      if (code == ARCHIVE_EOF) return End::kComplete;
      if (code == ARCHIVE_RETRY && next_block()) continue;
      if (code < ARCHIVE_WARN || code == ARCHIVE_RETRY) {
        if (x_headers > 0 || x_on_start_failure == StartFailure::kTell) tell_break_off();
        return x_headers > 0 ? End::kBroken : End::kAtStart;
      }
      if (passed < x_headers) continue;
      ++x_headers;
      if (auto stop = x_context.budget.count_member()) {
        tell(x_context.path, *stop);
        return End::kBroken;
      }
      const Outcome outcome = visit(entry);
      if (x_context.budget.exhausted() || outcome == Outcome::kEnd) return End::kBroken;
      if (outcome == Outcome::kHandleLost) return End::kMemberLost;
    }
  }

  // What is told once for the whole archive; after the last run().
  void tell_summaries() {
    if (x_encrypted > 0) {
      x_context.on_trouble({x_context.path, "encrypted",
                            std::to_string(x_encrypted) + " members are encrypted, the first is " +
                                x_first_encrypted +
                                "; unpack the archive with its password and give the files",
                            x_encrypted_bytes});
    }
    if (x_damaged_headers > 0) {
      x_context.on_trouble({x_context.path, "corrupt_archive",
                            "damaged: " + std::to_string(x_damaged_headers) +
                                " blocks between members are no header and were passed over",
                            x_damaged_headers * kTarBlockBytes});
    }
  }

 private:
  enum class Outcome { kRead, kLost, kHandleLost, kEnd };

  // After a damaged tar header libarchive looks at the block behind it; false when it does not get on.
  bool next_block() {
    const std::int64_t position = archive_filter_bytes(x_archive, -1);
    const bool moved = position != x_last_damage;
    x_last_damage = position;
    if (moved) ++x_damaged_headers;
    return moved;
  }

  Outcome visit(archive_entry* entry) {
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
      return Outcome::kLost;
    }
    const std::string name = member_name(entry, x_headers);
    const std::string path = x_context.path + "!" + name;
    if (archive_entry_is_encrypted(entry) != 0) {
      if (x_encrypted++ == 0) x_first_encrypted = name;
      x_encrypted_bytes += declared_size(entry);
      return Outcome::kLost;
    }
    if (const std::string_view method = greedy_method(); !method.empty()) {
      return lost(path,
                  {"unreadable", "packed by " + std::string(method) +
                                     ", which is not read: unpack the archive and give the files"},
                  declared_size(entry));
    }
    x_asked = !x_context.ask_for_stream;
    const Outcome outcome = read_data(entry, path);
    if (x_stream) {  // what came before a fault counts, as with other cut files
      x_stream->finish();
      x_stream.reset();
      ++x_delivered;
    } else if (outcome == Outcome::kRead) {
      ++x_delivered;
      x_context.on_member(name, std::string_view(x_context.buffer).substr(0, x_used));
    }
    return outcome;
  }

  // Methods of zip, hardly ever used, whose header alone can claim up to 4 GiB of memory. libarchive tells
  // the method only in the name of the format: "ZIP 6.3 (lzma)".
  std::string_view greedy_method() {
    const char* name = archive_format_name(x_archive);
    const std::string_view format = name != nullptr ? name : "";
    for (const std::string_view method : {"lzma", "xz", "ppmd"}) {
      if (format.starts_with("ZIP") && format.find(method) != std::string_view::npos) return method;
    }
    return {};
  }

  Outcome read_data(archive_entry* entry, const std::string& path) {
    x_used = 0;
    std::string doubt;
    const std::int64_t start = archive_filter_bytes(x_archive, -1);
    for (;;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(x_archive, &block, &size, &offset);
      if (code == ARCHIVE_EOF) break;
      if (code < ARCHIVE_WARN) return data_trouble(entry, path, code);
      if (code == ARCHIVE_WARN)
        doubt = library_text(x_archive);  // a wrong checksum of a zip member, told at its end
      if (size == 0) continue;
      if (static_cast<std::uint64_t>(offset) < x_used)
        return lost(path, {"corrupt_archive", "its parts overlap"}, 0);
      if (auto stop = append(path, static_cast<std::uint64_t>(offset),
                             {static_cast<const char*>(block), size}, start)) {
        return lost(path, *stop, declared_size(entry));
      }
    }
    // The tail of a sparse file may be a hole.
    const std::uint64_t declared = declared_size(entry);
    if (x_charging == Charging::kHolesOnly && declared > x_used) {
      if (auto stop = append(path, declared, {}, start)) return lost(path, *stop, declared);
    }
    if (!doubt.empty()) {
      x_context.on_trouble({path, "corrupt_archive", doubt + "; it is used, but may be damaged", 0});
    }
    return Outcome::kRead;
  }

  // Puts `block` at `offset` of the member; what lies between is a hole, zeros.
  std::optional<Stop> append(const std::string& path, std::uint64_t offset, std::string_view block,
                             std::int64_t start) {
    const ReadLimits& limits = x_context.budget.limits();
    const std::uint64_t hole = offset - x_used;
    if (!x_asked && x_used > kStreamBeyond) ask(path);
    const bool too_large = offset > limits.max_file_bytes || block.size() > limits.max_file_bytes - offset;
    if (!x_stream && too_large) {
      return Stop{"too_large", "larger than " + bytes_text(limits.max_file_bytes) + "; not read"};
    }
    if (auto stop =
            x_context.budget.charge(hole + (x_charging == Charging::kEverything ? block.size() : 0))) {
      return stop;
    }
    const std::uint64_t end = offset + block.size();
    if (x_charging == Charging::kEverything) {
      const std::int64_t taken = archive_filter_bytes(x_archive, -1) - start;
      if (auto bomb = x_context.budget.judge_ratio(
              end, static_cast<std::uint64_t>(std::max<std::int64_t>(taken, 0)))) {
        return bomb;
      }
    }
    if (x_stream) {
      feed_hole(hole);
      if (!block.empty()) x_stream->feed(block);
      x_used = end;
      return std::nullopt;
    }
    if (!grow_buffer(x_context.buffer, x_used, end, limits.max_file_bytes)) {
      return Stop{"too_large", "not enough memory for it"};
    }
    if (hole > 0) std::memset(x_context.buffer.data() + x_used, 0, hole);
    if (!block.empty()) std::memcpy(x_context.buffer.data() + offset, block.data(), block.size());
    x_used = end;
    return std::nullopt;
  }

  void ask(const std::string& path) {
    x_asked = true;
    const std::string_view first = std::string_view(x_context.buffer).substr(0, x_used);
    if (content_kind(first) != ContentKind::kPlain) return;
    x_stream = x_context.ask_for_stream(path, first);
    if (x_stream) x_stream->feed(first);
  }

  void feed_hole(std::uint64_t bytes) {
    static constexpr std::array<char, 4096> kZeros{};
    for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, kZeros.size()))
      x_stream->feed(
          {kZeros.data(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kZeros.size()))});
  }

  Outcome data_trouble(archive_entry* entry, const std::string& path, int code) {
    if (x_source != nullptr && x_source->stop()) {
      tell_break_off();
      return Outcome::kEnd;
    }
    const std::uint64_t declared = declared_size(entry);
    const std::uint64_t missing = declared > x_used ? declared - x_used : 0;
    std::string text = library_text(x_archive) + (x_stream ? "; what stood before it is used" : "; not read");
    const bool resumable = x_on_start_failure == StartFailure::kLeave;
    if (code == ARCHIVE_FATAL && !resumable) text += ", nor anything behind it: " + how_far();
    x_context.on_trouble({path, "corrupt_archive", std::move(text), missing});
    if (code != ARCHIVE_FATAL) return Outcome::kLost;
    return resumable ? Outcome::kHandleLost : Outcome::kEnd;
  }

  Outcome lost(const std::string& path, const Stop& stop, std::uint64_t bytes) {
    x_context.on_trouble({x_context.budget.exhausted() ? x_context.path : path, stop.code, stop.text, bytes});
    return x_skipping == Skipping::kCheap ? Outcome::kLost : Outcome::kEnd;
  }

  void tell_break_off() {
    Stop stop{"corrupt_archive", library_text(x_archive)};
    if (x_source != nullptr && x_source->stop()) stop = *x_source->stop();
    stop.text += "; " + how_far();
    tell(x_context.path, stop);
  }

  std::string how_far() {
    return std::to_string(x_delivered) + " members were read before it, up to byte " +
           std::to_string(archive_filter_bytes(x_archive, -1));
  }

  void tell(const std::string& path, const Stop& stop) {
    x_context.on_trouble({path, stop.code, stop.text, 0});
  }

  static std::uint64_t declared_size(archive_entry* entry) {
    const std::int64_t size = archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : 0;
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
  }

  archive* x_archive = nullptr;
  ByteSource* x_source;  // what a tar is read from
  Charging x_charging;
  Skipping x_skipping;
  StartFailure x_on_start_failure;
  const WalkContext& x_context;
  std::uint64_t x_used = 0;              // bytes of the present member in the buffer, or fed to its stream
  std::unique_ptr<BlobStream> x_stream;  // of the present member, if somebody wants one
  bool x_asked = true;
  std::uint64_t x_headers = 0;
  std::uint64_t x_delivered = 0;
  std::uint64_t x_damaged_headers = 0;
  std::int64_t x_last_damage = -1;
  std::uint64_t x_encrypted = 0;
  std::uint64_t x_encrypted_bytes = 0;
  std::string x_first_encrypted;
};

// Called by C code: nothing may be thrown through it.
la_ssize_t read_from_source(archive* handle, void* data, const void** block) {
  auto* source = static_cast<ByteSource*>(data);
  try {
    const std::string_view bytes = source->next();
    *block = bytes.data();
    if (!bytes.empty() || !source->stop()) return static_cast<la_ssize_t>(bytes.size());
    archive_set_error(handle, EIO, "%s", source->stop()->text.c_str());
  } catch (const std::bad_alloc&) {
    archive_set_error(handle, ENOMEM, "not enough memory");
  }
  return ARCHIVE_FATAL;
}

std::string read_at(const ZipInput& input, std::uint64_t offset, std::size_t count) {
  if (input.fd < 0)
    return std::string(input.bytes.substr(std::min<std::uint64_t>(offset, input.bytes.size()), count));
  std::string out(count, '\0');
  const ssize_t got = ::pread(input.fd, out.data(), count, static_cast<off_t>(offset));
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

std::uint64_t size_of(const ZipInput& input) {
  if (input.fd < 0) return input.bytes.size();
  struct stat status {};
  return ::fstat(input.fd, &status) == 0 && status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size)
                                                               : 0;
}

int open_zip(archive* handle, const ZipInput& input) {
  if (input.fd < 0) return archive_read_open_memory(handle, input.bytes.data(), input.bytes.size());
  if (::lseek(input.fd, 0, SEEK_SET) != 0) return ARCHIVE_FATAL;
  return archive_read_open_fd(handle, input.fd, kFdBlockBytes);
}

// Without its directory a zip is read from the front, from one local header to the next.
bool walk_zip_forward(const ZipInput& input, const WalkContext& context) {
  const ArchiveHandle handle(archive_read_new());
  if (!handle || archive_read_support_format_zip_streamable(handle.get()) != ARCHIVE_OK ||
      open_zip(handle.get(), input) != ARCHIVE_OK) {
    context.on_trouble(
        {context.path, "corrupt_archive", "it starts like a zip, but no member can be read", 0});
    return false;
  }
  Walk walk(nullptr, Charging::kEverything, Skipping::kCostly, StartFailure::kTell, context);
  const Walk::End end = walk.run(handle.get());
  walk.tell_summaries();
  return end == Walk::End::kComplete;
}

// The same, and one trouble at least says why.
bool walk_cut_zip(const ZipInput& input, const WalkContext& context) {
  const std::string why = "the directory at the end is missing or damaged, so the zip is probably cut off";
  bool told = false;
  const OnTrouble on_trouble = [&](ReadTrouble trouble) {
    if (!std::exchange(told, true)) trouble.text = why + ": " + trouble.text;
    context.on_trouble(std::move(trouble));
  };
  walk_zip_forward(input, {context.path, context.budget, context.buffer, context.on_member, on_trouble,
                           context.ask_for_stream});
  if (!told)
    context.on_trouble(
        {context.path, "corrupt_archive", why + "; all members found from the front were read", 0});
  return false;
}

}  // namespace

bool walk_tar(ByteSource& source, const WalkContext& context) {
  const ArchiveHandle handle(archive_read_new());
  if (!handle || archive_read_support_format_tar(handle.get()) != ARCHIVE_OK ||
      archive_read_open(handle.get(), &source, nullptr, read_from_source, nullptr) != ARCHIVE_OK) {
    const Stop stop = source.stop().value_or(
        Stop{"corrupt_archive", "it starts like a tar, but the first header is damaged"});
    context.on_trouble({context.path, stop.code, stop.text + "; no member was read", 0});
    return false;
  }
  Walk walk(&source, Charging::kHolesOnly, Skipping::kCheap, StartFailure::kTell, context);
  const Walk::End end = walk.run(handle.get());
  walk.tell_summaries();
  return end == Walk::End::kComplete;
}

bool walk_zip(const ZipInput& input, const WalkContext& context) {
  const std::uint64_t span = zip_directory_span(
      size_of(input), [&](std::uint64_t offset, std::size_t count) { return read_at(input, offset, count); });
  if (span > kLargestZipDirectory) return walk_zip_forward(input, context);
  Walk walk(nullptr, Charging::kEverything, Skipping::kCheap, StartFailure::kLeave, context);
  Walk::End end = span > 0 ? Walk::End::kMemberLost : Walk::End::kAtStart;
  for (int runs = 0; end == Walk::End::kMemberLost && runs <= kMostRestarts; ++runs) {
    const ArchiveHandle handle(archive_read_new());
    const bool open = handle && archive_read_support_format_zip_seekable(handle.get()) == ARCHIVE_OK &&
                      open_zip(handle.get(), input) == ARCHIVE_OK;
    end = open ? walk.run(handle.get()) : Walk::End::kAtStart;
  }
  walk.tell_summaries();
  if (end == Walk::End::kAtStart) return walk_cut_zip(input, context);
  if (end == Walk::End::kMemberLost) {
    context.on_trouble({context.path, "corrupt_archive",
                        "too many of its members are damaged; what stands behind them is not read", 0});
  }
  return end == Walk::End::kComplete;
}

}  // namespace unhang::os
