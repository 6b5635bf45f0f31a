// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_log.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <deque>

#include <fcntl.h>

#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

constexpr std::size_t kMaxText = 4096;        // longer records are cut
constexpr std::size_t kMaxBytes = 256 << 20;  // no kernel has so much; a stand-in may be endless

// "123" in front of `separator`, which goes with it.
std::optional<std::int64_t> take_number(std::string_view& line, char separator) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const auto used = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || used >= line.size() || *end != separator || value < 0) return std::nullopt;
  line.remove_prefix(used + 1);
  return value;
}

class Records {
 public:
  explicit Records(std::size_t most) : x_most(most) {}

  void take(std::string_view bytes) {
    for (const char c : bytes) {
      if (c != '\n') {
        if (x_line.size() < kMaxText) x_line += c;
        continue;
      }
      if (auto record = parse_kmsg_record(x_line)) add(std::move(*record));
      x_line.clear();
    }
  }

  KernelLog finish() && {
    return {{std::make_move_iterator(x_kept.begin()), std::make_move_iterator(x_kept.end())}, x_cut};
  }

 private:
  void add(KernelRecord record) {
    x_kept.push_back(std::move(record));
    if (x_kept.size() <= x_most) return;
    x_kept.pop_front();
    x_cut = true;
  }

  const std::size_t x_most;
  std::deque<KernelRecord> x_kept;
  std::string x_line;
  bool x_cut = false;
};

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<KernelRecord> parse_kmsg_record(std::string_view line) {
  KernelRecord record;
  if (!take_number(line, ',') || !take_number(line, ',')) return std::nullopt;
  const auto time = take_number(line, ',');
  const std::size_t semicolon = line.find(';');
  if (!time || semicolon == std::string_view::npos) return std::nullopt;
  record.since_start_us = *time;
  record.text = line.substr(semicolon + 1);
  return record;
}

std::optional<KernelRecord> parse_dmesg_line(std::string_view line) {
  if (!line.starts_with('[')) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(' ', 1), line.size()));
  const auto seconds = take_number(line, '.');
  if (!seconds || *seconds > 1'000'000'000'000) return std::nullopt;
  const auto micros = take_number(line, ']');
  if (!micros || *micros > 999'999) return std::nullopt;
  if (line.starts_with(' ')) line.remove_prefix(1);
  return KernelRecord{*seconds * 1'000'000 + *micros, std::string(line.substr(0, kMaxText))};
}

base::Result<KernelLog> read_kernel_log(const std::string& path, std::size_t max_records,
                                        std::chrono::steady_clock::time_point deadline) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  const auto cannot = [&](int error) {
    return base::fail(error == ENOENT ? base::ErrorCode::kNoInput : base::ErrorCode::kUnavailable,
                      path + ": " + std::strerror(error));
  };
  if (!file.valid()) return cannot(errno);
  Records records(max_records);
  std::array<char, 64 << 10> piece;
  for (std::size_t total = 0; total < kMaxBytes && std::chrono::steady_clock::now() < deadline;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    // EPIPE: records were overwritten while we read; the next one is there.
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got < 0) return cannot(errno);
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
    records.take({piece.data(), static_cast<std::size_t>(got)});
  }
  return std::move(records).finish();
}

std::int64_t kernel_clock_start_ns() {
  return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

}  // namespace unhang::os
