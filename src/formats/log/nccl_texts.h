// SPDX-License-Identifier: Apache-2.0
//
// NCCL's messages by subject. Each function adds what `text` says and returns true, or leaves it.
#pragma once

#include <span>
#include <string_view>

#include "formats/log/facts.h"
#include "formats/log/line.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {

// Warnings.
bool take_socket_warning(std::string_view text, const Line& line, Facts& facts);
bool take_rdma_warning(std::string_view text, const Line& line, Facts& facts);
bool take_start_warning(std::string_view text, const Line& line,
                        Facts& facts);  // duplicates, versions, bootstrap
bool take_memory_warning(std::string_view text, const Line& line,
                         Facts& facts);  // /dev/shm, devices, locking
bool take_cuda_warning(std::string_view text, const Line& line, Facts& facts);
bool take_progress_warning(std::string_view text, const Line& line, Facts& facts);  // proxy, mismatch, RAS

// What it tells of its surroundings while it starts: interfaces, networks, plugins, variables.
bool take_nccl_setup(std::string_view text, const Line& line, Facts& facts);
// "proxy.cc:692 -> 6 [Progress Thread]".
bool take_unwinding(std::string_view text, const Line& line, Facts& facts);

// Texts of at least 4 bytes, one of which stands in every message that take_nccl_setup() and
// take_nccl_warning() know.
std::span<const std::string_view> nccl_setup_keywords();
std::span<const std::string_view> nccl_warning_keywords();

// The value of a variable as it may be kept: "(removed)" where the name speaks of a secret.
std::string_view shown_value(std::string_view variable, std::string_view value);

// What stands behind the first `mark`; empty also where it is not there.
inline std::string_view text_behind(std::string_view text, std::string_view mark) {
  return behind(text, mark).value_or(std::string_view());
}
// Up to a blank, comma or semicolon, at most 128 bytes.
inline std::string_view plain_word(std::string_view text) {
  return up_to(text, " ,;\t").substr(0, 128);
}

// "10.0.0.2<45763>" at the beginning of `text`, without what follows; also of IPv6 with its zone.
std::string_view address_at(std::string_view text);

}  // namespace unhang::formats::log
