// SPDX-License-Identifier: Apache-2.0
//
// One plain HTTP GET as a Conversation, so that many pages can be asked for side by side in one thread
// (conversations.h). Only what a metric page needs: http, no proxy, no compression; whoever wants more uses
// http_client.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/address.h"
#include "net/conversations.h"
#include "net/http_client.h"

namespace unhang::net {

// "http://node3:8000/metrics?x=1" taken apart. nullopt for everything else: https, a user name, a bad port.
struct PlainUrl {
  HostPort host;
  std::string target;  // "/metrics?x=1"
};
std::optional<PlainUrl> parse_plain_url(std::string_view url);

// Reads an answer as it comes, at any borders.
class HttpAnswerReader {
 public:
  explicit HttpAnswerReader(std::size_t max_bytes) : x_max_bytes(max_bytes) {}

  // True when the answer is whole, or cannot become so.
  bool take(std::string_view bytes);
  // Nothing more comes; `why` it ended for people.
  void end(const std::string& why);

  // Valid after the end. `trouble` says why the body is not whole.
  HttpResponse response = {};
  // Not an answer at all, or none came: for people. Empty: `response` holds one.
  std::string failure = {};

 private:
  enum class Stage : std::uint8_t { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kWhole };
  bool read_head();
  bool read_body();
  bool read_chunk_size();
  bool fail_with(std::string why);
  void add_body(std::size_t bytes);
  std::optional<std::string> take_line();

  std::size_t x_max_bytes;
  Stage x_stage = Stage::kHead;
  std::string x_in;
  std::size_t x_left = 0;      // of the body or chunk
  bool x_until_close = false;  // neither a length nor chunks
  bool x_got_head = false;
};

class HttpExchange final : public Conversation {
 public:
  HttpExchange(PlainUrl url, std::size_t max_bytes) : x_url(std::move(url)), x_reader(max_bytes) {}

  Step on_connected() override;
  Step on_bytes(std::string_view bytes) override;
  void on_end(const End& end) override;

  // Both valid after the end. Did no answer come at all?
  bool failed() const { return !x_reader.failure.empty(); }
  // As http_get() gives it. Once: the body is handed over.
  base::Result<HttpResponse> take_result();

 private:
  PlainUrl x_url;
  HttpAnswerReader x_reader;
  base::ErrorCode x_code = base::ErrorCode::kUnavailable;
};

}  // namespace unhang::net
