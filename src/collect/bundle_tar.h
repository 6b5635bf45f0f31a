// SPDX-License-Identifier: Apache-2.0
//
// A bundle on its way through a pipe: a tar (ustar; names of more than 100 bytes by pax headers) of plain
// files. The reader takes only what the writer writes, piece by piece as it arrives, since it may come from a
// stranger: other kinds of members (folders, links, devices), paths that lead out and sizes beyond the bounds
// end it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace unhang::collect {

// What goes in front of the bytes of a file, and behind them. `path` has at most 4096 bytes, the
// file less than 8 GiB.
std::string tar_header(std::string_view path, std::uint64_t bytes);
std::string tar_padding(std::uint64_t bytes);
// Behind the last file.
std::string tar_end();

struct BundleTarLimits {
  std::uint64_t max_file_bytes = std::uint64_t{4} << 30;
  std::uint64_t max_bytes = std::uint64_t{8} << 30;  // of all files
  std::uint64_t max_files = 20'000;
  // Before the first header: what a login prints, until "manifest.json" begins.
  std::size_t max_preamble = 64 << 10;
};

class BundleTarReader {
 public:
  // Each function may refuse by returning false; then the reader wants no more.
  struct Taker {
    std::function<bool(const std::string& path, std::uint64_t bytes)> begin;
    std::function<bool(std::string_view bytes)> bytes;
    std::function<bool()> end;
  };

  explicit BundleTarReader(Taker taker, BundleTarLimits limits = {})
      : x_taker(std::move(taker)), x_limits(limits) {}

  // False: wrong, too large or refused; fault() says why (empty: refused). Nothing more may be given then.
  bool feed(std::string_view bytes);

  const std::string& fault() const { return x_fault; }
  // What came before the tar, for people: perhaps an error message. At most 200 bytes.
  std::string_view preamble() const { return std::string_view(x_held).substr(0, kShownPreamble); }
  bool begun() const { return x_state != State::kPreamble; }
  bool complete() const { return x_state == State::kEnd; }  // its end was seen
  std::uint64_t files() const { return x_files; }           // whole ones

 private:
  enum class State { kPreamble, kHeader, kPathRecord, kFile, kPadding, kEnd };
  static constexpr std::size_t kShownPreamble = 200;

  bool find_begin();
  bool take_header();
  bool take_path_record();
  bool begin_file(const std::string& path, std::uint64_t bytes);
  bool wrong(std::string text);

  Taker x_taker;
  BundleTarLimits x_limits;
  State x_state = State::kPreamble;
  std::string x_held;          // of a header or record that has not come whole; or the preamble
  std::size_t x_wanted = 512;  // of x_held
  std::uint64_t x_left = 0;    // of the file, then of its padding
  std::uint64_t x_padding = 0;
  std::string x_long_path;
  std::uint64_t x_files = 0, x_begun_files = 0, x_bytes = 0;
  std::string x_fault;
};

}  // namespace unhang::collect
