// SPDX-License-Identifier: Apache-2.0
//
// Hands out the bytes of one piece of evidence: a plain file, stdin, or each member of an archive. What is an
// archive is decided by content, never by name: tar, zip, and gzip, zstd, bzip2 or xz around one file or a
// tar. Archives inside archives are followed. Nothing is ever written to disk, so a hostile member name can
// do no harm.
//
// Every limit holds per call, that is per top-level file. What cannot be read is told through `on_trouble`,
// and everything else is still delivered; the call itself cannot fail. Memory: one member (of at most
// max_file_bytes), one more for each archive nested inside an archive, and some fixed buffers; what is taken
// as a stream (BlobStream) costs kStreamBeyond bytes at most, whatever its size. Threads: calls
// with different `scratch` are independent. stdin may be read once per process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace unhang::os {

struct ReadLimits {
  std::uint64_t max_file_bytes = 4ull << 30;  // of one plain file or one member, expanded
  std::uint64_t max_expanded_bytes = 8ull
                                     << 30;  // made by expansion of one top-level file, all layers together
  std::uint64_t max_expansion_ratio = 300;   // looked at once more than 16 MiB came out
  std::uint32_t max_members = 200'000;       // of one top-level file, nested ones included
  std::uint32_t max_nesting = 3;             // archives inside the top-level one; a tar.gz is one archive
};

struct ReadTrouble {
  std::string path;  // of the file or the member ("a.tar!b")
  std::string
      code;  // too_large, unreadable, bomb, corrupt_archive, too_many_members, nested_too_deep, encrypted
  std::string text;              // for a person: what is lost and what to do
  std::uint64_t bytes_lost = 0;  // 0 when not known
};

// `bytes` are valid only during the call.
using OnBlob = std::function<void(const std::string& path, std::string_view bytes)>;
using OnTrouble = std::function<void(ReadTrouble)>;

// Takes one file block by block. max_file_bytes does not hold for it; what bounds expansion does.
class BlobStream {
 public:
  virtual ~BlobStream() = default;
  // Blocks may end anywhere and are valid only during the call.
  virtual void feed(std::string_view bytes) = 0;
  // Called once, at the end; also where the file broke off, which `on_trouble` tells.
  virtual void finish() = 0;
};

// Files beyond this are offered as a stream, in blocks of at most this.
inline constexpr std::uint64_t kStreamBeyond = 8ull << 20;

// Asked once for each file that is no archive and larger than kStreamBeyond, with its beginning (of at least
// 64 KiB; it is fed as well). A null pointer: the whole of it is wanted, as a blob.
using AskForStream =
    std::function<std::unique_ptr<BlobStream>(const std::string& path, std::string_view first)>;

struct ReadHooks {
  AskForStream ask_for_stream;
  // Counts the bytes of the file itself (not what comes out of it) while they are read.
  std::atomic<std::uint64_t>* bytes_read = nullptr;
};

// Reads `path` ("-" is stdin, all of it). A plain file gives one blob, also when it is empty. A member's path
// is "archive.tar!member/name", in stored order, control characters as \xNN. A compressed single file keeps
// its path. A compressed file that is cut off gives what came out of it, beside the trouble; a cut archive
// gives the members before the cut. `scratch` is a buffer kept by the caller for the next call; its content
// has no meaning.
void read_evidence(const std::string& path, const ReadLimits& limits, std::string& scratch,
                   const OnBlob& on_blob, const OnTrouble& on_trouble, const ReadHooks& hooks = {});

}  // namespace unhang::os
