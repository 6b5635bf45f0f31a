// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "formats/log/prefix.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kLongestHost = 255;
constexpr std::size_t kLongestSource = 300;  // a vendored path and a function with its arguments

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr std::array<bool, 256> host_bytes() {
  std::array<bool, 256> of_host{};
  for (std::size_t c = 0; c < of_host.size(); ++c) {
    of_host[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '.' || c == '_' || c == '%' || c == '/' || c >= 0x80;
  }
  return of_host;
}
constexpr std::array<bool, 256> kOfHost = host_bytes();

// What stands between "[dev] " and the message.
struct Words {
  NcclLevel level = NcclLevel::kNone;
  std::string_view source_file;
  std::int64_t source_line = 0;
};

void keep(const Words& words, Prefix& prefix) {
  prefix.nccl = words.level;
  if (words.source_file.empty()) return;
  prefix.source_file = words.source_file;
  prefix.source_line = words.source_line;
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
bool read_source(Scanner& in, Words& words) {
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
  words.source_file = file;
  words.source_line = line;
  if (in.peek() == '(') {
    const std::size_t open = in.at();
    if (!in.skip_past(") ")) in.move_to(open);
  }
  return true;
}

// `old`: the word NCCL may be missing (<= 2.2).
bool read_words(Scanner& in, Words& words, bool old) {
  const std::size_t before = in.at();
  if (in.take("NCCL ") && read_level(in, words.level)) return true;
  in.move_to(before);
  NcclLevel level = NcclLevel::kNone;
  if (old && read_level(in, level) && (level == NcclLevel::kInfo || level == NcclLevel::kWarn)) {
    words.level = level;
    return true;
  }
  in.move_to(before);
  // Cheap test first: anything may stand here in a line that is not NCCL's.
  const std::string_view near = in.rest().substr(0, kLongestSource);
  if (near.find(old ? "WARN" : "NCCL ") == std::string_view::npos &&
      near.find("NCCL ") == std::string_view::npos) {
    return false;
  }
  if (read_source(in, words)) {
    const bool named = in.take("NCCL ");
    if ((named || old) && read_level(in, words.level)) return true;
  }
  in.move_to(before);
  return false;
}

}  // namespace

std::size_t read_nccl_prefix(std::string_view text, Prefix& prefix) {
  const std::size_t longest = std::min(text.size(), kLongestHost + 1);
  std::size_t colon = 0;
  while (colon < longest && kOfHost[static_cast<unsigned char>(text[colon])]) ++colon;
  if (colon == 0 || colon + 1 >= text.size() || text[colon] != ':' || !is_digit(text[colon + 1])) return 0;
  Scanner in(text);
  in.move_to(colon + 1);
  std::int64_t pid = 0, thread = 0, device = -1;
  if (!in.digits(1, 10, pid) || !in.take(':') || !in.digits(1, 18, thread) || !in.take(' ')) return 0;
  if (in.peek() == '[') {
    const std::size_t open = in.at();
    in.move_to(open + 1);
    if (!in.number(device) || !in.take("] ")) return 0;
  }
  Words words;
  if (!read_words(in, words, true)) return 0;
  keep(words, prefix);
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
  Words words;
  if (!read_words(in, words, false)) return 0;
  keep(words, prefix);
  if (device >= 0) prefix.cuda_device = static_cast<std::int32_t>(device);
  return in.at();
}

}  // namespace unhang::formats::log
