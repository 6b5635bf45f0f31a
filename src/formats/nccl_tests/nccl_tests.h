// SPDX-License-Identifier: Apache-2.0
//
// The JSON of nccl-tests (-J FILE; docs/formats/nccl_tests.md). A run that hangs or dies leaves it without
// its end: what was written is read. The file holds the whole environment of the process; nothing of that,
// nor of the command line beyond the name of the test, is kept or shown.
#pragma once

#include <string>
#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::nccl_tests {

bool sniff(std::string_view bytes);
// Adds one model::Log with one run when the bytes are such a file. At most 64 MiB, 4096 rows, 65536 hosts.
void parse(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::nccl_tests
