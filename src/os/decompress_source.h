// SPDX-License-Identifier: Apache-2.0
//
// Undoes one layer of gzip, zstd, bzip2 or xz while it is read. Files made of several compressed streams one
// after another (appended logs, parallel compressors) are read as one. Checksums are verified.
//
// The libraries of the four formats are called directly and not through libarchive: what comes out before a
// cut is not lost, gzip checksums are looked at, and each layer can be charged to the budget while it works.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "os/byte_source.h"
#include "os/content_kind.h"

namespace unhang::os {

// One of the four libraries. Throws std::bad_alloc when the library has no memory.
class Codec {
 public:
  enum class State : std::uint8_t { kMore, kStreamEnd, kBroken };
  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    State state = State::kMore;
    const char* why = "";  // for kBroken
  };

  virtual ~Codec() = default;
  virtual Step step(std::string_view in, char* out, std::size_t room) = 0;
  virtual void restart() = 0;  // the next step() begins a new stream
};

std::unique_ptr<Codec> make_codec(ContentKind compression);

class DecompressSource final : public ByteSource {
 public:
  // `upstream` and `budget` must outlive this. `kind` is a compression.
  DecompressSource(ByteSource& upstream, ContentKind kind, ReadBudget& budget);

 protected:
  // After a stop() it gives what came out before, then nothing.
  std::string_view pull() override;

 private:
  void refill();
  std::size_t advance();  // one step of the codec; how many bytes now stand in x_out
  bool another_stream();
  void finish_streams();
  void end_with(const char* code, const std::string& text);

  ByteSource& x_upstream;
  ContentKind x_kind;
  ReadBudget& x_budget;
  std::unique_ptr<Codec> x_codec;
  std::unique_ptr<char[]> x_out;
  std::string_view x_in;  // what upstream gave and the codec has not yet taken
  std::string x_joined;   // backs x_in where a new stream begins across two blocks
  bool x_input_ended = false;
  bool x_done = false;
  std::uint64_t x_consumed = 0;
  std::uint64_t x_produced = 0;
};

}  // namespace unhang::os
