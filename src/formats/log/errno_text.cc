// SPDX-License-Identifier: Apache-2.0
#include "formats/log/errno_text.h"

#include <array>

#include "formats/log/find_text.h"

namespace unhang::formats::log {
namespace {

struct Row {
  std::string_view text;
  std::int64_t number;
};

// asm-generic/errno.h
constexpr std::array<Row, 29> kRows{{
    {"Connection refused", 111},
    {"Connection timed out", 110},
    {"No route to host", 113},
    {"Network is unreachable", 101},
    {"Network is down", 100},
    {"Connection reset by peer", 104},
    {"Software caused connection abort", 103},
    {"No space left on device", 28},
    {"Cannot allocate memory", 12},
    {"Invalid argument", 22},
    {"Permission denied", 13},
    {"No such device or address", 6},
    {"No such device", 19},
    {"Operation not permitted", 1},
    {"Broken pipe", 32},
    {"Address already in use", 98},
    {"Cannot assign requested address", 99},
    {"Operation not supported", 95},
    {"No such file or directory", 2},
    {"Too many open files", 24},
    {"Bad address", 14},
    {"Host is down", 112},
    {"Resource temporarily unavailable", 11},
    {"Device or resource busy", 16},
    {"Input/output error", 5},
    {"Transport endpoint is not connected", 107},
    {"Protocol not supported", 93},
    {"File exists", 17},
    {"Operation now in progress", 115},
}};

}  // namespace

std::int64_t errno_in(std::string_view text) {
  for (const Row& row : kRows) {
    if (text.find(row.text) != std::string_view::npos) return row.number;
  }
  // "timed out" alone: old wording of connect().
  return find_text(text, "timed out") != std::string_view::npos ? 110 : 0;
}

}  // namespace unhang::formats::log
