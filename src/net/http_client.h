// SPDX-License-Identifier: Apache-2.0
//
// One HTTP GET, or a POST without a body, with a deadline and a ceiling on the bytes. Wraps libcurl, which is
// loaded when the first request is made: the program starts as fast as without it and runs where it is
// missing; then the error says which package to install.
//
// Only http and https. At most 3 redirects, and none to another scheme. No cookies, no passwords from
// ~/.netrc, no proxy for loopback addresses (elsewhere the usual http_proxy variables hold). Certificates are
// verified. Safe to call from several threads at once; each call makes its own connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/deadline.h"

namespace unhang::net {

struct HttpRequest {
  std::string url;  // "http://127.0.0.1:8000/metrics"
  Deadline deadline = Deadline::in(std::chrono::seconds(5));
  std::size_t max_bytes = std::size_t{16} << 20;  // of the body; more is cut off there
  std::vector<std::string> headers;               // sent as well: "Accept: text/plain"
  bool post = false;                              // ask with POST, with an empty body
};

struct HttpResponse {
  int status = 0;  // 200; of the last answer where there were redirects
  std::string body;
  // Of the last answer, in order; names in lower case.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string url;      // where the answer came from in the end
  std::string trouble;  // why the body is not whole; empty: it is
  std::chrono::nanoseconds elapsed{0};

  bool complete() const { return trouble.empty(); }
  // The first header of that name (lower case); empty when there is none.
  std::string_view header(std::string_view name) const;
};

// What the server answered, whatever its status. What of a body had come when the deadline passed or the
// connection broke is kept (`trouble` says why it ends there). An Error where no status came at all: kUsage
// for an address that is none, kTryAgain when the deadline passed, else kUnavailable (connection refused,
// unknown name, no libcurl …).
base::Result<HttpResponse> http_get(const HttpRequest& request);

// Empty when requests can be made; else what to install. Loads the library.
std::string http_missing();

}  // namespace unhang::net
