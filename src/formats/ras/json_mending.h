// SPDX-License-Identifier: Apache-2.0
//
// JSON texts of RAS that no parser takes: releases that forget a comma, and texts without their end. Both are
// mended in place.
#pragma once

#include <cstddef>
#include <string>

namespace unhang::formats::ras {

// NCCL 2.28.7 and 2.28.9 print no comma between "nvml_dev" and "status" of a missing rank: one is put in the
// place of the blank or line end that is there. How many there were.
std::size_t add_missing_commas(std::string& json);

// Cuts a text without its end back to its last whole rank, communicator or value beside them, and closes what
// is open there. False, and nothing changed, when the text has its end. Linear.
bool close_open_end(std::string& json);

// Bytes that are no ASCII become '?'.
void replace_foreign_bytes(std::string& json);

}  // namespace unhang::formats::ras
