// SPDX-License-Identifier: Apache-2.0
#include "net/http_exchange.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/printable.h"

namespace unhang::net {
namespace {

constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::size_t kMaxChunkLine = 1024;
constexpr std::size_t kReserved = std::size_t{1} << 20;  // at most, on the word of a server

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Whole numbers only; nullopt for anything else, also when it is too large.
std::optional<std::size_t> whole_number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<PlainUrl> parse_plain_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (lower(url.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  url.remove_prefix(kScheme.size());
  const std::size_t path = std::min(url.find_first_of("/?#"), url.size());
  const std::string_view authority = url.substr(0, path);
  if (authority.empty() || authority.find('@') != std::string_view::npos) return std::nullopt;
  auto host = parse_host_port(authority, 80);
  if (!host || host->host.empty()) return std::nullopt;
  std::string_view target = url.substr(path);
  target = target.substr(0, target.find('#'));
  const bool harmless = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!harmless) return std::nullopt;
  return PlainUrl{std::move(*host),
                  (target.empty() || target.front() != '/' ? "/" : "") + std::string(target)};
}

bool HttpAnswerReader::fail_with(std::string why) {
  if (x_got_head) {
    response.trouble = std::move(why);
  } else {
    failure = std::move(why);
  }
  x_stage = Stage::kWhole;
  return true;
}

std::optional<std::string> HttpAnswerReader::take_line() {
  const std::size_t end = x_in.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line(trimmed(std::string_view(x_in).substr(0, end)));
  x_in.erase(0, end + 1);
  return line;
}

bool HttpAnswerReader::read_head() {
  // An empty line ends it; servers may leave the \r out.
  std::size_t end = x_in.find("\n\r\n"), skip = 3;
  if (const std::size_t bare = x_in.find("\n\n"); bare < end) {
    end = bare;
    skip = 2;
  }
  if (x_in.compare(0, std::min<std::size_t>(x_in.size(), 5), "HTTP/",
                   std::min<std::size_t>(x_in.size(), 5)) != 0) {
    return fail_with("this is no HTTP server");
  }
  if (end == std::string::npos)
    return x_in.size() > kMaxHead ? fail_with("its HTTP headers never end") : false;
  const std::string head = x_in.substr(0, end + 1);
  x_in.erase(0, end + skip);
  const std::size_t status = head.find(' ');
  const auto number = status == std::string::npos || status + 4 > head.size()
                          ? std::nullopt
                          : whole_number(std::string_view(head).substr(status + 1, 3), 10);
  if (!number) return fail_with("this is no HTTP server");
  response.status = static_cast<int>(*number);
  std::string_view rest = std::string_view(head).substr(std::min(head.find('\n'), head.size() - 1) + 1);
  while (!rest.empty()) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    response.headers.emplace_back(lower(trimmed(line.substr(0, colon))),
                                  std::string(trimmed(line.substr(colon + 1))));
  }
  if (response.status >= 100 && response.status < 200 && response.status != 101) {
    response.headers.clear();  // "100 Continue": the answer follows
    return false;
  }
  x_got_head = true;
  if (lower(response.header("transfer-encoding")).find("chunked") != std::string::npos) {
    x_stage = Stage::kChunkSize;
    return false;
  }
  x_stage = Stage::kBody;
  if (const std::string_view length = response.header("content-length"); !length.empty()) {
    const auto bytes = whole_number(length, 10);
    if (!bytes) return fail_with("its Content-Length is no number");
    x_left = *bytes;
    response.body.reserve(std::min({x_left, x_max_bytes, kReserved}));
  } else {
    x_until_close = response.status != 204 && response.status != 304;
  }
  return false;
}

void HttpAnswerReader::add_body(std::size_t bytes) {
  response.body.append(x_in, 0, bytes);
  x_in.erase(0, bytes);
}

bool HttpAnswerReader::read_body() {
  const std::size_t room = x_max_bytes - response.body.size();
  const std::size_t wanted = x_until_close ? x_in.size() : std::min(x_left, x_in.size());
  add_body(std::min(wanted, room));
  if (wanted > room)
    return fail_with(fmt::format("longer than {} bytes; the rest was not read", x_max_bytes));
  if (x_until_close) return false;
  x_left -= wanted;
  if (x_left > 0) return false;
  if (x_stage == Stage::kChunk) {
    x_stage = Stage::kChunkEnd;
    return false;
  }
  x_stage = Stage::kWhole;
  return true;
}

bool HttpAnswerReader::read_chunk_size() {
  const auto line = take_line();
  if (!line) return x_in.size() > kMaxChunkLine ? fail_with("a chunk without a size") : false;
  const auto bytes = whole_number(trimmed(std::string_view(*line).substr(0, line->find(';'))), 16);
  if (!bytes) return fail_with("a chunk without a size");
  x_left = *bytes;
  x_stage = *bytes == 0 ? Stage::kTrailer : Stage::kChunk;
  return false;
}

bool HttpAnswerReader::take(std::string_view bytes) {
  x_in.append(bytes);
  for (;;) {
    const Stage before = x_stage;
    const std::size_t size = x_in.size();
    switch (x_stage) {
      case Stage::kHead:
        if (read_head()) return true;
        break;
      case Stage::kBody:
      case Stage::kChunk:
        if (read_body()) return true;
        break;
      case Stage::kChunkSize:
        if (read_chunk_size()) return true;
        break;
      case Stage::kChunkEnd:
        if (const auto line = take_line()) {
          if (!line->empty()) return fail_with("a chunk that is longer than it says");
          x_stage = Stage::kChunkSize;
        } else if (x_in.size() > kMaxChunkLine) {
          return fail_with("a chunk that is longer than it says");
        }
        break;
      case Stage::kTrailer:
        if (const auto line = take_line(); line && line->empty()) x_stage = Stage::kWhole;
        if (x_in.size() > kMaxHead) return fail_with("trailers that never end");
        break;
      case Stage::kWhole:
        return true;
    }
    if (x_stage == before && x_in.size() == size) return x_stage == Stage::kWhole;
  }
}

void HttpAnswerReader::end(const std::string& why) {
  if (x_stage == Stage::kWhole) return;
  if (x_stage == Stage::kBody && x_until_close && why.empty()) {
    x_stage = Stage::kWhole;
    return;
  }
  fail_with(why.empty()
                ? (x_got_head ? "the server closed before the end" : "the server closed without an answer")
                : why);
}

Step HttpExchange::on_connected() {
  const std::string host = x_url.host.text();
  return {.send = fmt::format(
              "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: unhang\r\n"
              "Accept: text/plain, application/json;q=0.5, */*;q=0.1\r\nConnection: close\r\n\r\n",
              x_url.target, host)};
}

Step HttpExchange::on_bytes(std::string_view bytes) {
  return {.done = x_reader.take(bytes)};
}

void HttpExchange::on_end(const End& end) {
  x_code = end.kind == EndKind::kDeadline ? base::ErrorCode::kTryAgain : base::ErrorCode::kUnavailable;
  const bool in_order = end.kind == EndKind::kClosed || end.kind == EndKind::kDone;
  x_reader.end(in_order ? std::string() : end.text);
}

base::Result<HttpResponse> HttpExchange::take_result() {
  if (failed()) return base::fail(x_code, base::printable(x_reader.failure));
  HttpResponse response = std::move(x_reader.response);
  response.url = "http://" + x_url.host.text() + x_url.target;
  return response;
}

}  // namespace unhang::net
