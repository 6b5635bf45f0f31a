// SPDX-License-Identifier: Apache-2.0
#include "net/socket_error.h"

#include <cerrno>
#include <cstring>

namespace unhang::net {

std::string error_text(int error) {
  if (error == EMFILE) return "too many open files (ulimit -n)";
  std::string text = std::strerror(error);
  if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z') text.front() += 'a' - 'A';
  return text;
}

}  // namespace unhang::net
