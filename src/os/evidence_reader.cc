// SPDX-License-Identifier: Apache-2.0
#include "os/evidence_reader.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/archive_walker.h"
#include "os/byte_source.h"
#include "os/content_kind.h"
#include "os/decompress_source.h"
#include "os/file_descriptor.h"
#include "os/read_budget.h"

namespace unhang::os {
namespace {

constexpr std::size_t kFirstRead = 1 << 20;       // most dumps and logs come in one call
constexpr std::size_t kUnknownSize = 64 << 10;    // files of /proc say that they are empty
constexpr std::size_t kKeptScratch = 256 << 20;   // more than that is given back after the file
constexpr std::uint64_t kPaddingLimit = 1 << 20;  // looked at behind the end of a compressed tar

// A buffer for one blob, out of those that this top-level file has used before: they nest like the archives.
class BufferStack {
 public:
  explicit BufferStack(std::string& first) : x_first(first) {}

  class Lease {
   public:
    explicit Lease(BufferStack& stack) : x_stack(stack), x_buffer(stack.take()) {}
    ~Lease() { --x_stack.x_taken; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::string& get() { return x_buffer; }

   private:
    BufferStack& x_stack;
    std::string& x_buffer;
  };

 private:
  std::string& take() {
    const std::size_t index = x_taken++;
    if (index == 0) return x_first;
    if (index > x_more.size()) x_more.emplace_back();
    return x_more[index - 1];
  }

  std::string& x_first;
  std::deque<std::string> x_more;  // a deque does not move its elements
  std::size_t x_taken = 0;
};

// Follows one top-level file down through its archives.
class Unpacker {
 public:
  Unpacker(const ReadLimits& limits, std::uint64_t input_bytes, BufferStack& buffers, const OnBlob& on_blob,
           const OnTrouble& on_trouble, const ReadHooks& hooks)
      : x_budget(limits, input_bytes),
        x_buffers(buffers),
        x_on_blob(on_blob),
        x_on_trouble(on_trouble),
        x_hooks(hooks) {}

  // `bytes` is all of it. `depth`: how many archives it is inside of.
  void open_bytes(std::string_view bytes, const std::string& path, std::uint32_t depth) {
    const ContentKind kind = content_kind(bytes);
    if (kind == ContentKind::kPlain) {
      x_on_blob(path, bytes);
    } else if (depth > x_budget.limits().max_nesting) {
      tell_too_deep(path, bytes.size());
    } else if (kind == ContentKind::kZip) {
      open_zip({-1, bytes}, path, depth);
    } else {
      MemorySource source(bytes);
      open_stream(source, kind, path, depth);
    }
  }

  void open_zip(const ZipInput& input, const std::string& path, std::uint32_t depth) {
    BufferStack::Lease buffer(x_buffers);
    const OnMember on_member = member_opener(path, depth);
    walk_zip(input, {path, x_budget, buffer.get(), on_member, x_on_trouble, x_hooks.ask_for_stream});
  }

  // `kind` is a tar or a compression.
  void open_stream(ByteSource& source, ContentKind kind, const std::string& path, std::uint32_t depth) {
    if (kind == ContentKind::kTar) {
      open_tar(source, path, depth);
      return;
    }
    DecompressSource inner(source, kind, x_budget);
    const ContentKind inner_kind = content_kind(inner.peek(kKindBytes));
    if (inner_kind == ContentKind::kTar) {
      if (open_tar(inner, path, depth)) check_padding(inner, path);
    } else if (is_compression(inner_kind)) {
      if (depth >= x_budget.limits().max_nesting) return tell_too_deep(path, 0);
      open_stream(inner, inner_kind, path, depth + 1);
    } else {
      collect(inner, inner_kind, path, depth);
    }
  }

 private:
  bool open_tar(ByteSource& source, const std::string& path, std::uint32_t depth) {
    BufferStack::Lease buffer(x_buffers);
    const OnMember on_member = member_opener(path, depth);
    return walk_tar(source, {path, x_budget, buffer.get(), on_member, x_on_trouble, x_hooks.ask_for_stream});
  }

  OnMember member_opener(const std::string& path, std::uint32_t depth) {
    return [this, &path, depth](const std::string& name, std::string_view bytes) {
      open_bytes(bytes, path + "!" + name, depth + 1);
    };
  }

  // All of a decompressed stream into one buffer: a single file, or a zip, which has to be whole. A long
  // single file may go to a stream instead.
  void collect(ByteSource& source, ContentKind kind, const std::string& path, std::uint32_t depth) {
    BufferStack::Lease buffer(x_buffers);
    std::uint64_t used = 0;
    bool may_ask = kind == ContentKind::kPlain && x_hooks.ask_for_stream;
    for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
      const std::uint64_t most = x_budget.limits().max_file_bytes;
      if (block.size() > most - used) {
        x_on_trouble({path, "too_large", "it expands to more than " + bytes_text(most) + "; not read", 0});
        return;
      }
      if (!grow_buffer(buffer.get(), used, used + block.size(), most)) {
        x_on_trouble({path, "too_large", "not enough memory for it", 0});
        return;
      }
      block.copy(buffer.get().data() + used, block.size());
      used += block.size();
      if (may_ask && used > kStreamBeyond) {
        may_ask = false;
        const std::string_view first = std::string_view(buffer.get()).substr(0, used);
        if (const auto stream = x_hooks.ask_for_stream(path, first)) {
          stream->feed(first);
          return feed_rest(source, *stream, path, used);
        }
      }
    }
    if (!usable(source, path, used)) return;
    const std::string_view bytes = std::string_view(buffer.get()).substr(0, used);
    if (kind == ContentKind::kPlain) {
      x_on_blob(path, bytes);
    } else {
      open_bytes(bytes, path, depth + 1);
    }
  }

  void feed_rest(ByteSource& source, BlobStream& stream, const std::string& path, std::uint64_t fed) {
    for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
      stream.feed(block);
      fed += block.size();
    }
    stream.finish();
    (void)usable(source, path, fed);
  }

  // Whether what came out of the source can be used; tells why it ended too early, if it did.
  bool usable(const ByteSource& source, const std::string& path, std::uint64_t used) {
    if (!source.stop()) return true;
    const bool damaged = source.stop()->code == "corrupt_archive";
    std::string text = source.stop()->text;
    if (damaged) text += "; " + bytes_text(used) + " came out of it and are used";
    x_on_trouble({path, source.stop()->code, std::move(text), 0});
    return damaged && used > 0;
  }

  // A tar ends before its compressed stream does: the checksum stands behind the padding.
  void check_padding(ByteSource& source, const std::string& path) {
    const std::uint64_t from = source.taken();
    while (source.taken() - from < kPaddingLimit && !source.next().empty()) {
    }
    if (!source.stop() || source.stop()->code != "corrupt_archive") return;
    x_on_trouble(
        {path, "corrupt_archive", source.stop()->text + "; all members were read, but may be damaged", 0});
  }

  void tell_too_deep(const std::string& path, std::uint64_t bytes) {
    x_on_trouble({path, "nested_too_deep",
                  "more than " + std::to_string(x_budget.limits().max_nesting) +
                      " archives inside one another; unpack it and give the files",
                  bytes});
  }

  ReadBudget x_budget;
  BufferStack& x_buffers;
  const OnBlob& x_on_blob;
  const OnTrouble& x_on_trouble;
  const ReadHooks& x_hooks;
};

void count(const ReadHooks& hooks, std::int64_t bytes) {
  if (bytes > 0 && hooks.bytes_read != nullptr) *hooks.bytes_read += static_cast<std::uint64_t>(bytes);
}

class TopLevel {
 public:
  TopLevel(const std::string& path, const ReadLimits& limits, std::string& scratch, const OnBlob& on_blob,
           const OnTrouble& on_trouble, const ReadHooks& hooks)
      : x_path(path),
        x_limits(limits),
        x_scratch(scratch),
        x_on_blob(on_blob),
        x_on_trouble(on_trouble),
        x_hooks(hooks) {}

  void read_file() {
    // Without O_NONBLOCK a pipe that took the file's place would block us.
    const FileDescriptor fd(::open(x_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.valid()) return tell_unreadable(errno, 0);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return tell_unreadable(errno, 0);
    if (!S_ISREG(status.st_mode)) {
      x_on_trouble(
          {x_path, "unreadable", "not a regular file; give files or folders, or pipe data in with -", 0});
      return;
    }
    const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    std::uint64_t used = 0;
    // One byte more than there should be: a short answer then means the end, without asking again.
    const std::size_t room = size == 0 ? kUnknownSize : std::min<std::uint64_t>(size + 1, kFirstRead);
    if (!grow_buffer(x_scratch, 0, room, room)) return tell_unreadable(ENOMEM, size);
    const std::int64_t got = read_some(fd.get(), x_scratch.data(), room);
    if (got < 0) return tell_unreadable(errno, size);
    used = static_cast<std::uint64_t>(got);
    const ContentKind kind = content_kind({x_scratch.data(), used});
    if (kind != ContentKind::kPlain) return unpack(fd.get(), kind, size);
    count(x_hooks, got);
    const bool complete = used < room && (used == size || used == 0);
    if (complete) return deliver(used);
    if (size > kStreamBeyond && stream_it(fd.get(), used)) return;
    if (size > x_limits.max_file_bytes) return tell_too_large(size);
    if (!grow_buffer(x_scratch, used, size + 1, size + 1)) return tell_unreadable(ENOMEM, size);
    const int error = read_rest(fd.get(), used, x_limits.max_file_bytes);
    if (error != 0) tell_unreadable(error, size > used ? size - used : 0);
    if (error == 0 || used > 0) deliver(used);
  }

  void read_stdin() {
    std::uint64_t used = 0;
    if (x_hooks.ask_for_stream) {
      const int error = read_rest(STDIN_FILENO, used, kStreamBeyond);
      if (error == 0 && used > kStreamBeyond &&
          content_kind({x_scratch.data(), static_cast<std::size_t>(used)}) == ContentKind::kPlain &&
          stream_it(STDIN_FILENO, used))
        return;
    }
    if (const int error = read_rest(STDIN_FILENO, used, x_limits.max_file_bytes); error != 0) {
      tell_unreadable(error, 0);
      if (used == 0) return;
    }
    if (used > x_limits.max_file_bytes) return tell_too_large(0);
    BufferStack buffers(x_scratch);
    const BufferStack::Lease keep(buffers);  // scratch holds the input itself
    Unpacker(x_limits, used, buffers, x_on_blob, x_on_trouble, x_hooks)
        .open_bytes({x_scratch.data(), static_cast<std::size_t>(used)}, x_path, 0);
  }

 private:
  void unpack(int fd, ContentKind kind, std::uint64_t size) {
    BufferStack buffers(x_scratch);
    Unpacker unpacker(x_limits, size, buffers, x_on_blob, x_on_trouble, x_hooks);
    if (kind == ContentKind::kZip) {
      unpacker.open_zip({fd, {}}, x_path, 0);
      return count(x_hooks, static_cast<std::int64_t>(size));
    }
    if (::lseek(fd, 0, SEEK_SET) != 0) return tell_unreadable(errno, size);
    FileSource source(fd, x_hooks.bytes_read);
    unpacker.open_stream(source, kind, x_path, 0);
  }

  // Reads what is left of `fd` into the buffer behind `used`, which it moves on. An error number, 0 when it
  // came to the end or passed `most` (used > most then), ENOMEM when the buffer cannot grow.
  int read_rest(int fd, std::uint64_t& used, std::uint64_t most) {
    for (;;) {
      if (used > most) return 0;
      if (used == x_scratch.size() && !grow_buffer(x_scratch, used, used + kUnknownSize, most + kUnknownSize))
        return ENOMEM;
      const std::int64_t got = read_some(fd, x_scratch.data() + used, x_scratch.size() - used);
      if (got < 0) return errno;
      if (got == 0) return 0;
      count(x_hooks, got);
      used += static_cast<std::uint64_t>(got);
    }
  }

  // Gives the file to a stream, if somebody wants one: the first `used` bytes stand in the buffer.
  bool stream_it(int fd, std::uint64_t used) {
    if (!x_hooks.ask_for_stream) return false;
    const std::string_view first(x_scratch.data(), static_cast<std::size_t>(used));
    const auto stream = x_hooks.ask_for_stream(x_path, first);
    if (!stream) return false;
    stream->feed(first);
    FileSource source(fd, x_hooks.bytes_read);
    for (std::string_view block = source.next(); !block.empty(); block = source.next()) stream->feed(block);
    stream->finish();
    if (source.stop()) x_on_trouble({x_path, source.stop()->code, source.stop()->text, 0});
    return true;
  }

  void deliver(std::uint64_t used) {
    if (used > x_limits.max_file_bytes) return tell_too_large(used);
    x_on_blob(x_path, {x_scratch.data(), static_cast<std::size_t>(used)});
  }

  void tell_too_large(std::uint64_t bytes) {
    x_on_trouble({x_path, "too_large",
                  "larger than " + bytes_text(x_limits.max_file_bytes) +
                      "; not read: give the part around the failure",
                  bytes});
  }

  void tell_unreadable(int error, std::uint64_t bytes) {
    const bool memory = error == ENOMEM;
    x_on_trouble({x_path, memory ? "too_large" : "unreadable",
                  memory ? "not enough memory for it" : std::generic_category().message(error), bytes});
  }

  const std::string& x_path;
  const ReadLimits& x_limits;
  std::string& x_scratch;
  const OnBlob& x_on_blob;
  const OnTrouble& x_on_trouble;
  const ReadHooks& x_hooks;
};

}  // namespace

void read_evidence(const std::string& path, const ReadLimits& limits, std::string& scratch,
                   const OnBlob& on_blob, const OnTrouble& on_trouble, const ReadHooks& hooks) {
  TopLevel top(path, limits, scratch, on_blob, on_trouble, hooks);
  if (path == "-") {
    top.read_stdin();
  } else {
    top.read_file();
  }
  if (scratch.size() > kKeptScratch) std::string().swap(scratch);
}

}  // namespace unhang::os
