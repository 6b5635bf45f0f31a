// SPDX-License-Identifier: Apache-2.0
//
// A stream of bytes in blocks, so that layers (file, decompression, tar) can be stacked without holding any
// of them whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/read_budget.h"

namespace unhang::os {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // The next bytes without taking them: at least `wanted`, fewer only at the end. Valid until the next call.
  std::string_view peek(std::size_t wanted);
  // Takes the next block; empty at the end. Valid until the next call.
  std::string_view next();

  // Set when the bytes ended, or are wrong, before their proper end.
  const std::optional<Stop>& stop() const { return x_stop; }
  // Bytes taken so far.
  std::uint64_t taken() const { return x_taken; }

 protected:
  virtual std::string_view pull() = 0;
  void set_stop(Stop stop) {
    if (!x_stop) x_stop = std::move(stop);
  }

 private:
  std::string x_held;        // holds what peek() had to join
  std::string_view x_block;  // peeked and not yet taken
  std::optional<Stop> x_stop;
  std::uint64_t x_taken = 0;
};

// Bytes that somebody else keeps alive.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : x_bytes(bytes) {}

 protected:
  std::string_view pull() override { return std::exchange(x_bytes, std::string_view{}); }

 private:
  std::string_view x_bytes;
};

// Reads a descriptor, which it does not own, from where it stands. Adds what it read to `bytes_read`, if any.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(int fd, std::atomic<std::uint64_t>* bytes_read = nullptr);

 protected:
  std::string_view pull() override;

 private:
  int x_fd;
  std::atomic<std::uint64_t>* x_bytes_read;
  std::unique_ptr<char[]> x_buffer;
};

// read(2) that goes on after a signal. -1 and errno as there.
std::int64_t read_some(int fd, char* into, std::size_t room);

}  // namespace unhang::os
