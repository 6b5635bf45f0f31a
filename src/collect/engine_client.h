// SPDX-License-Identifier: Apache-2.0
//
// Asks inference engines for their metric pages and /health, many side by side, again and again. Hands out
// bytes; what they say is read elsewhere (it looks at a page only to find the right address: trtllm-serve has
// its Prometheus page under another path). An engine may also be a file, which is read anew each time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/deadline.h"
#include "net/http_client.h"

namespace unhang::collect {

// Where an engine is asked, and what was found out about it.
struct EngineEndpoint {
  std::string given;            // as the user wrote it
  std::string shown;            // the same without secrets: for screens and messages
  std::string file;             // path; empty: by HTTP
  std::string metrics, health;  // URLs
  bool settled = false;         // the path of the page is known to be right
};

// "http://node3:8000", the address of a metric page, "node3:8000", "file:///path", or a path with a slash.
// kUsage for an address that is none of these.
base::Result<EngineEndpoint> parse_engine(std::string_view text);

struct EngineReply {
  std::string page;           // bytes of the metric page; empty: none
  std::string trouble;        // why there is none, or why it is not whole: "connection refused"
  std::optional<int> health;  // HTTP status; nullopt: not asked, or no answer
  std::string health_trouble;
  bool interrupted = false;  // by `wake_fd`: whoever did not answer had not the time to
};

// One thread. No call takes longer than its deadline, whatever the engines do.
class EngineClient {
 public:
  static constexpr std::size_t kMaxPage = std::size_t{16} << 20;

  explicit EngineClient(std::vector<EngineEndpoint> endpoints);

  // One reply an endpoint. `ask_health` says where /health is asked as well. Returns early when `wake_fd`
  // becomes readable.
  std::vector<EngineReply> poll(const std::vector<bool>& ask_health, std::chrono::nanoseconds time,
                                int wake_fd);

  const std::vector<EngineEndpoint>& endpoints() const { return x_endpoints; }

 private:
  struct Want {
    std::size_t endpoint = 0;
    bool health = false;
    std::string url;
    std::optional<base::Result<net::HttpResponse>> response;
  };
  void fetch(std::vector<Want>& wants, const net::Deadline& deadline, int wake_fd);
  void fetch_plain(std::vector<Want*>& wants, const net::Deadline& deadline, int wake_fd);
  void take_page(EngineEndpoint& endpoint, base::Result<net::HttpResponse>& response, EngineReply& reply,
                 std::vector<Want>& again, std::size_t index);
  const std::vector<net::SocketAddress>* addresses_of(const net::HostPort& host,
                                                      const net::Deadline& deadline, std::string& trouble);

  std::vector<EngineEndpoint> x_endpoints;
  struct Resolved {
    net::HostPort host;
    std::vector<net::SocketAddress> addresses;
  };
  std::vector<Resolved> x_resolved;
};

}  // namespace unhang::collect
