// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kLongestHost = 255;
constexpr std::size_t kLongestSource = 300;  // a vendored path and a function with its arguments

bool of_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '%' || c == '/' || static_cast<unsigned char>(c) >= 0x80;
}

bool read_level(Scanner& in, NcclLevel& level) {
  if (in.take("INFO"))
    level = NcclLevel::kInfo;
  else if (in.take("WARN"))
    level = NcclLevel::kWarn;
  else if (in.take("TRACE"))
    level = NcclLevel::kTrace;
  else if (in.take("CALL"))
    level = NcclLevel::kCall;
  else
    return false;
  return in.at_end() || in.take(' ');
}

// "transport/net_ib.cc:80 ", "init.cc:80 (ncclFunction(int)) "; of TRACE "12.345 function:80 "; of fragments
// "ibvwrap.cc: ".
bool read_source(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  std::int64_t milliseconds = 0, fraction = 0;
  if (in.digits(1, 15, milliseconds) && !(in.take('.') && in.digits(1, 9, fraction) && in.take(' '))) {
    in.move_to(before);
  }
  const std::string_view file = in.until(": \t");
  if (file.empty() || !in.take(':')) {
    in.move_to(before);
    return false;
  }
  std::int64_t line = 0;
  in.digits(1, 9, line);
  if (!in.take(' ')) {
    in.move_to(before);
    return false;
  }
  prefix.source_file = file;
  prefix.source_line = line;
  if (in.peek() == '(') {
    const std::size_t open = in.at();
    if (!in.skip_past(") ")) in.move_to(open);
  }
  return true;
}

// What stands between "[dev] " and the message. `old`: the word NCCL may be missing (<= 2.2).
bool read_words(Scanner& in, Prefix& prefix, bool old) {
  NcclLevel level = NcclLevel::kNone;
  const std::size_t before = in.at();
  if (in.take("NCCL ") && read_level(in, level)) {
    prefix.nccl = level;
    return true;
  }
  in.move_to(before);
  if (old && read_level(in, level) && (level == NcclLevel::kInfo || level == NcclLevel::kWarn)) {
    prefix.nccl = level;
    return true;
  }
  in.move_to(before);
  // Cheap test first: anything may stand here in a line that is not NCCL's.
  const std::string_view near = in.rest().substr(0, kLongestSource);
  if (near.find(old ? "WARN" : "NCCL ") == std::string_view::npos &&
      near.find("NCCL ") == std::string_view::npos) {
    return false;
  }
  Prefix read = prefix;
  if (read_source(in, read)) {
    const bool named = in.take("NCCL ");
    if ((named || old) && read_level(in, level)) {
      prefix = read;
      prefix.nccl = level;
      return true;
    }
  }
  in.move_to(before);
  return false;
}

}  // namespace

std::size_t read_nccl_prefix(std::string_view text, Prefix& prefix) {
  std::size_t colon = 0;
  while (colon < text.size() && colon <= kLongestHost && of_host(text[colon])) ++colon;
  if (colon == 0 || colon >= text.size() || text[colon] != ':') return 0;
  Scanner in(text);
  in.move_to(colon + 1);
  std::int64_t pid = 0, thread = 0, device = -1;
  if (!in.digits(1, 10, pid) || !in.take(':') || !in.digits(1, 18, thread) || !in.take(' ')) return 0;
  if (in.peek() == '[') {
    const std::size_t open = in.at();
    in.move_to(open + 1);
    if (!in.number(device) || !in.take("] ")) return 0;
  }
  Prefix read = prefix;
  if (!read_words(in, read, true)) return 0;
  prefix = read;
  prefix.host = text.substr(0, colon);
  prefix.host_is_nccl = true;
  prefix.pid = pid;
  prefix.thread = thread;
  prefix.cuda_device = static_cast<std::int32_t>(device >= 0 && device < 4096 ? device : -1);
  return in.at();
}

std::size_t read_nccl_words(std::string_view text, Prefix& prefix) {
  Scanner in(text);
  std::int64_t device = -1;
  if (in.peek() == '[' && !(in.take('[') && in.digits(1, 4, device) && in.take("] "))) return 0;
  if (!read_words(in, prefix, false)) return 0;
  if (device >= 0) prefix.cuda_device = static_cast<std::int32_t>(device);
  return in.at();
}

}  // namespace unhang::formats::log
