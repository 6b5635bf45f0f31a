// SPDX-License-Identifier: Apache-2.0
//
// Writing to a pipe whose reader may be slow or stuck, without waiting longer than there is time.
#pragma once

#include <chrono>
#include <string_view>

namespace unhang::os {

// False: not all of it could be written until then (`deadline`), or the reader is gone. SIGPIPE must be
// ignored, as this program does. A file or terminal is written to as usual.
bool write_until(int fd, std::string_view bytes, std::chrono::steady_clock::time_point deadline);

}  // namespace unhang::os
