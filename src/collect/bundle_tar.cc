// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_tar.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/printable.h"
#include "formats/bundle/bundle_manifest.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kLongestPath = 4096;
constexpr std::string_view kFirstName{"manifest.json\0", 14};

// Places in a ustar header (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr std::size_t kNameBytes = 100, kModeAt = 100, kSizeAt = 124, kSizeBytes = 12, kTimeAt = 136,
                      kSumAt = 148, kSumBytes = 8, kTypeAt = 156, kMagicAt = 257, kPrefixAt = 345;
constexpr char kRegular = '0', kPaxRecord = 'x';

unsigned checksum(std::string_view block) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= kSumAt && i < kSumAt + kSumBytes ? ' ' : static_cast<unsigned char>(block[i]);
  return sum;
}

void put_octal(std::string& block, std::size_t at, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value /= 8) block[at + i] = static_cast<char>('0' + value % 8);
}

std::string plain_header(std::string_view name, std::uint64_t bytes, char type) {
  std::string block(kBlock, '\0');
  block.replace(0, std::min(name.size(), kNameBytes), name.substr(0, kNameBytes));
  put_octal(block, kModeAt, 7, 0600);
  put_octal(block, kModeAt + 8, 7, 0);
  put_octal(block, kModeAt + 16, 7, 0);
  put_octal(block, kSizeAt, kSizeBytes - 1, bytes);
  put_octal(block, kTimeAt, 11, 0);
  block[kTypeAt] = type;
  block.replace(kMagicAt, 8, std::string_view("ustar\00000", 8));
  put_octal(block, kSumAt, 6, checksum(block));
  block[kSumAt + 7] = ' ';
  return block;
}

std::optional<std::uint64_t> octal(std::string_view field) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (const char c : field) {
    if (c >= '0' && c <= '7') {
      value = value * 8 + static_cast<std::uint64_t>(c - '0');
      ++digits;
    } else if (digits > 0 || c != ' ') {
      break;
    }
  }
  return digits == 0 ? std::nullopt : std::optional(value);
}

bool is_header(std::string_view block) {
  return block.substr(kMagicAt, 5) == "ustar" && octal(block.substr(kSumAt, kSumBytes)) == checksum(block);
}

}  // namespace

std::string tar_header(std::string_view path, std::uint64_t bytes) {
  if (path.size() <= kNameBytes) return plain_header(path, bytes, kRegular);
  // "LENGTH path=PATH\n", where LENGTH counts its own digits, too.
  const std::string rest = " path=" + std::string(path) + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  const std::string record = std::to_string(length) + rest;
  return plain_header("path", record.size(), kPaxRecord) + record + tar_padding(record.size()) +
         plain_header(path, bytes, kRegular);
}

std::string tar_padding(std::uint64_t bytes) {
  return std::string((kBlock - bytes % kBlock) % kBlock, '\0');
}

std::string tar_end() {
  return std::string(2 * kBlock, '\0');
}

bool BundleTarReader::wrong(std::string text) {
  x_fault = std::move(text);
  return false;
}

bool BundleTarReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (x_state == State::kEnd) return true;  // a tar is filled up with zeros
    if (x_state == State::kPreamble) {
      x_held += bytes;
      bytes = {};
      if (!find_begin()) return false;
      if (x_state == State::kPreamble) return true;
      const std::string rest = std::exchange(x_held, std::string());
      return feed(rest);
    }
    if (x_state == State::kFile || x_state == State::kPadding) {
      const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), x_left));
      if (x_state == State::kFile && count > 0 && !x_taker.bytes(bytes.substr(0, count))) return false;
      x_left -= count;
      bytes.remove_prefix(count);
    } else {
      const std::size_t count = std::min(bytes.size(), x_wanted - x_held.size());
      x_held.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      if (x_held.size() < x_wanted) return true;
      if (!(x_state == State::kHeader ? take_header() : take_path_record())) return false;
      x_held.clear();
    }
    if (x_state == State::kFile && x_left == 0) {
      if (!x_taker.end()) return false;
      ++x_files;
      x_state = State::kPadding;
      x_left = x_padding;
    }
    if (x_state == State::kPadding && x_left == 0) x_state = State::kHeader;
  }
  return true;
}

// Leaves x_held beginning with the first header.
bool BundleTarReader::find_begin() {
  for (std::size_t at = 0; (at = x_held.find(kFirstName, at)) != std::string::npos; ++at) {
    if (x_held.size() - at < kBlock) break;
    if (!is_header(std::string_view(x_held).substr(at, kBlock))) continue;
    x_held.erase(0, at);
    x_state = State::kHeader;
    return true;
  }
  if (x_held.size() > x_limits.max_preamble + kBlock) return wrong("what it sent is no bundle");
  return true;
}

bool BundleTarReader::take_header() {
  const std::string_view block = x_held;
  x_wanted = kBlock;
  if (block.find_first_not_of('\0') == std::string_view::npos) {
    x_state = State::kEnd;
    return true;
  }
  if (!is_header(block)) return wrong("what it sent is damaged: a header is none");
  const char type = block[kTypeAt];
  const auto size = octal(block.substr(kSizeAt, kSizeBytes));
  if ((type != kRegular && type != kPaxRecord) || !size)
    return wrong("what it sent holds something that is no plain file; not taken");
  if (type == kPaxRecord) {
    if (*size == 0 || *size > kLongestPath + 16) return wrong("what it sent has a header that is too long");
    x_wanted = static_cast<std::size_t>(*size) + tar_padding(*size).size();
    x_padding = *size;
    x_state = State::kPathRecord;
    return true;
  }
  std::string path = std::exchange(x_long_path, std::string());
  if (path.empty()) {
    if (block[kPrefixAt] != '\0') return wrong("what it sent has a path of another form; not taken");
    path = block.substr(0, std::min(block.find('\0'), kNameBytes));
  }
  return begin_file(path, *size);
}

bool BundleTarReader::take_path_record() {
  std::string_view record = std::string_view(x_held).substr(0, static_cast<std::size_t>(x_padding));
  const std::size_t key = record.find(" path=");
  if (key == std::string_view::npos || record.substr(0, key) != std::to_string(record.size()) ||
      record.back() != '\n')
    return wrong("what it sent has a header that is not known here");
  record.remove_prefix(key + 6);
  record.remove_suffix(1);
  x_long_path = record;
  x_state = State::kHeader;
  x_wanted = kBlock;
  return true;
}

bool BundleTarReader::begin_file(const std::string& path, std::uint64_t bytes) {
  const std::string shown = base::printable(std::string_view(path).substr(0, 80));
  if (!formats::bundle::is_inside(path) || base::printable(path) != path)
    return wrong("what it sent has a path that leads out of the bundle (" + shown + "); not taken");
  if (++x_begun_files > x_limits.max_files)
    return wrong("what it sent has more than " + std::to_string(x_limits.max_files) + " files");
  if (bytes > x_limits.max_file_bytes || bytes > x_limits.max_bytes - x_bytes)
    return wrong("what it sent is too large: " + shown + " says it has " + std::to_string(bytes) + " bytes");
  x_bytes += bytes;
  if (!x_taker.begin(path, bytes)) return false;
  x_left = bytes;
  x_padding = tar_padding(bytes).size();
  x_state = State::kFile;
  return true;
}

}  // namespace unhang::collect
