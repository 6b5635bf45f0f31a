// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_client.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/printable.h"
#include "collect/redaction.h"
#include "net/conversations.h"
#include "net/http_exchange.h"

namespace unhang::collect {
namespace {

using base::ErrorCode;
using base::fail;
using Response = base::Result<net::HttpResponse>;

constexpr std::string_view kMetrics = "/metrics";
constexpr std::string_view kPrometheus = "/prometheus";

// A plain file only: opening a pipe could wait for ever.
base::Result<std::string> read_page_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return fail(ErrorCode::kNoInput, "no such file");
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  char buffer[1 << 16];
  while (bytes.size() < EngineClient::kMaxPage && (file.read(buffer, sizeof(buffer)) || file.gcount() > 0)) {
    bytes.append(buffer, static_cast<std::size_t>(file.gcount()));
  }
  if (!file && !file.eof()) return fail(ErrorCode::kNoInput, "it cannot be read");
  return bytes;
}

bool is_json(std::string_view page) {
  const std::size_t begin = page.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (page[begin] == '[' || page[begin] == '{');
}

// Through a proxy only libcurl can ask; addresses of this machine never go through one.
bool wants_proxy(const net::HostPort& host) {
  const char* proxy = std::getenv("http_proxy");
  if (proxy == nullptr || *proxy == '\0') return false;
  return host.host != "localhost" && host.host != "::1" && host.host.rfind("127.", 0) != 0;
}

// What the user sees of an address must not be repeated in each message about it: "GET URL: why" -> "why".
std::string without_address(std::string text) {
  constexpr std::string_view kGet = "GET ";
  const std::size_t end = text.find(": ");
  if (text.rfind(kGet, 0) == 0 && end != std::string::npos) text.erase(0, end + 2);
  return text;
}

// Where a page moved to within its own server; nullopt where that is elsewhere, or no address.
std::optional<std::string> moved_within(const std::string& page, std::string_view location) {
  const auto url = net::parse_plain_url(page);
  if (!url) return std::nullopt;
  const std::string base = "http://" + url->host.text();
  std::string next(location);
  if (location.front() == '/') next.insert(0, base);
  if (next.rfind(base + "/", 0) != 0 || !net::parse_plain_url(next)) return std::nullopt;
  return next;
}

// Pages are asked for as they are; some proxies compress them all the same.
std::string compression_of(const net::HttpResponse& response) {
  const std::string_view coding = response.header("content-encoding");
  return coding == "identity" ? std::string() : base::printable(coding.substr(0, 20));
}

}  // namespace

base::Result<EngineEndpoint> parse_engine(std::string_view text) {
  EngineEndpoint endpoint;
  endpoint.given = std::string(text);
  constexpr std::string_view kFile = "file://";
  const std::size_t scheme = text.find("://");
  if (text.substr(0, kFile.size()) == kFile || (scheme == std::string_view::npos && text.find('/') == 0) ||
      text.substr(0, 2) == "./" || text.substr(0, 3) == "../") {
    endpoint.file = std::string(text.substr(0, kFile.size()) == kFile ? text.substr(kFile.size()) : text);
    endpoint.shown = base::printable(endpoint.file);
    if (endpoint.file.empty()) return fail(ErrorCode::kUsage, "file:// without a path");
    return endpoint;
  }
  std::string url = scheme == std::string_view::npos ? "http://" + std::string(text) : std::string(text);
  if (url.rfind("http://", 0) != 0 && url.rfind("https://", 0) != 0) {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is no address of an engine: http://HOST:PORT, or a file",
                                               base::printable(text)));
  }
  if (url.rfind("http://", 0) == 0 && url.find('@') == std::string::npos && !net::parse_plain_url(url)) {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is no address of an engine: http://HOST:PORT",
                                               base::printable(without_secrets(url))));
  }
  endpoint.shown = base::printable(without_secrets(url));
  const std::size_t question = std::min(url.find_first_of("?#"), url.size());
  const std::string query = url.substr(question);
  std::string path = url.substr(0, question);
  while (!path.empty() && path.back() == '/') path.pop_back();
  std::string root = path;
  endpoint.settled = path.size() > kMetrics.size() &&
                     path.compare(path.size() - kMetrics.size(), kMetrics.size(), kMetrics) == 0;
  if (endpoint.settled) {
    root.resize(root.size() - kMetrics.size());
    if (root.size() > kPrometheus.size() &&
        root.compare(root.size() - kPrometheus.size(), kPrometheus.size(), kPrometheus) == 0) {
      root.resize(root.size() - kPrometheus.size());
    }
  }
  endpoint.metrics = (endpoint.settled ? path : root + std::string(kMetrics)) + query;
  endpoint.health = root + "/health" + query;
  return endpoint;
}

EngineClient::EngineClient(std::vector<EngineEndpoint> endpoints) : x_endpoints(std::move(endpoints)) {}

const std::vector<net::SocketAddress>* EngineClient::addresses_of(const net::HostPort& host,
                                                                  const net::Deadline& deadline,
                                                                  std::string& trouble) {
  for (const Resolved& known : x_resolved) {
    if (known.host == host && !known.addresses.empty()) return &known.addresses;
  }
  auto found = net::resolve(host, deadline);
  if (!found) {
    trouble = found.error().message;
    return nullptr;
  }
  const auto same = [&](const Resolved& known) { return known.host == host; };
  x_resolved.erase(std::remove_if(x_resolved.begin(), x_resolved.end(), same), x_resolved.end());
  x_resolved.push_back({host, std::move(*found)});
  return &x_resolved.back().addresses;
}

// All pages of plain HTTP side by side. An address that refuses is followed by the next one of its name.
void EngineClient::fetch_plain(std::vector<Want*>& wants, const net::Deadline& deadline, int wake_fd) {
  struct Attempt {
    Want* want;
    net::PlainUrl url;
    std::vector<net::SocketAddress> addresses;
    std::size_t next = 0;
    std::unique_ptr<net::HttpExchange> exchange;
  };
  std::vector<Attempt> attempts;
  for (Want* want : wants) {
    net::PlainUrl url = *net::parse_plain_url(want->url);
    std::string trouble;
    const auto* addresses = addresses_of(url.host, deadline.or_sooner(std::chrono::seconds(2)), trouble);
    if (addresses == nullptr) {
      want->response = fail(ErrorCode::kUnavailable, trouble);
      continue;
    }
    attempts.push_back({want, std::move(url), *addresses, 0, nullptr});
  }
  for (bool more = true; more && !attempts.empty() && !deadline.passed();) {
    net::Conversations all;
    for (Attempt& attempt : attempts) {
      if (attempt.next >= attempt.addresses.size() || (attempt.exchange && !attempt.exchange->failed()))
        continue;
      attempt.exchange = std::make_unique<net::HttpExchange>(attempt.url, kMaxPage);
      all.start({attempt.addresses[attempt.next++], attempt.exchange.get(), deadline,
                 kMaxPage + (std::size_t{1} << 20)});
    }
    all.run(deadline, wake_fd);
    more = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
      return attempt.exchange->failed() && attempt.next < attempt.addresses.size();
    });
  }
  for (Attempt& attempt : attempts) {
    attempt.want->response = attempt.exchange
                                 ? attempt.exchange->take_result()
                                 : Response(fail(ErrorCode::kTryAgain, "no time was left to ask"));
    if (*attempt.want->response) continue;
    // Its name may lead elsewhere now: a pod that was started anew has another address.
    for (Resolved& known : x_resolved) {
      if (known.host == attempt.url.host) known.addresses.clear();
    }
  }
}

void EngineClient::fetch(std::vector<Want>& wants, const net::Deadline& deadline, int wake_fd) {
  std::vector<Want*> plain;
  std::vector<std::pair<Want*, std::thread>> others;
  for (Want& want : wants) {
    const auto url = net::parse_plain_url(want.url);
    if (url && !wants_proxy(url->host)) {
      plain.push_back(&want);
      continue;
    }
    others.emplace_back(&want, std::thread([&want, deadline] {
      want.response =
          net::http_get({.url = want.url, .deadline = deadline, .max_bytes = kMaxPage, .headers = {}});
    }));
  }
  fetch_plain(plain, deadline, wake_fd);
  for (auto& [want, thread] : others) thread.join();
}

void EngineClient::take_page(EngineEndpoint& endpoint, Response& response, EngineReply& reply,
                             std::vector<Want>& again, std::size_t index) {
  if (!response) {
    reply.trouble = without_address(response.error().message);
    return;
  }
  // A page that moved within its server: "/metrics" -> "/metrics/". Kept only if it is found there.
  const std::string_view location = response->header("location");
  if (response->status >= 301 && response->status <= 308 && !location.empty()) {
    if (auto next = moved_within(endpoint.metrics, location))
      again.push_back({index, false, std::move(*next), std::nullopt});
    reply.trouble = fmt::format("HTTP {}: the page has moved to {}; give the address where it is",
                                response->status, base::printable(without_secrets(location).substr(0, 200)));
    return;
  }
  if (response->status != 200) {
    reply.trouble =
        fmt::format("HTTP {} for {}", response->status, base::printable(without_secrets(endpoint.metrics)));
  } else if (const std::string coding = compression_of(*response); !coding.empty()) {
    reply.trouble = fmt::format("its page is compressed ({}), though that was not asked for", coding);
    return;
  } else {
    reply.page = std::move(response->body);
    reply.trouble = response->trouble;
    // What follows the last line break of a page that was cut may be half a number.
    if (!response->complete()) reply.page.resize(reply.page.rfind('\n') + 1);
  }
  const bool elsewhere = response->status == 404 || (response->status == 200 && is_json(reply.page));
  if (!endpoint.settled && elsewhere) {
    const std::size_t at = endpoint.metrics.rfind(kMetrics);
    std::string other = endpoint.metrics;
    other.insert(at, kPrometheus);
    again.push_back({index, false, std::move(other), std::nullopt});
  } else if (response->status == 200) {
    endpoint.settled = true;
  }
}

std::vector<EngineReply> EngineClient::poll(const std::vector<bool>& ask_health,
                                            std::chrono::nanoseconds time, int wake_fd) {
  const net::Deadline deadline = net::Deadline::in(time);
  std::vector<EngineReply> replies(x_endpoints.size());
  std::vector<Want> wants, again;
  for (std::size_t i = 0; i < x_endpoints.size(); ++i) {
    const EngineEndpoint& endpoint = x_endpoints[i];
    if (!endpoint.file.empty()) {
      auto page = read_page_file(endpoint.file);
      if (page) replies[i].page = std::move(*page);
      if (!page) replies[i].trouble = page.error().message;
      continue;
    }
    wants.push_back({i, false, endpoint.metrics, std::nullopt});
    if (ask_health[i]) wants.push_back({i, true, endpoint.health, std::nullopt});
  }
  fetch(wants, deadline, wake_fd);
  for (Want& want : wants) {
    EngineReply& reply = replies[want.endpoint];
    if (!want.health) {
      take_page(x_endpoints[want.endpoint], *want.response, reply, again, want.endpoint);
    } else if (*want.response) {
      if ((*want.response)->status != 404) reply.health = (*want.response)->status;
    } else {
      reply.health_trouble = without_address(want.response->error().message);
    }
  }
  if (net::is_woken(wake_fd)) {
    for (EngineReply& reply : replies) reply.interrupted = true;
    return replies;
  }
  if (again.empty()) return replies;
  fetch(again, deadline, wake_fd);
  for (Want& want : again) {
    const Response& response = *want.response;
    EngineEndpoint& endpoint = x_endpoints[want.endpoint];
    if (!response || response->status != 200 || is_json(response->body)) {
      // The statistics are all there is: don't look for more each time.
      if (response && !replies[want.endpoint].page.empty()) endpoint.settled = true;
      continue;
    }
    endpoint.metrics = want.url;
    endpoint.settled = true;
    replies[want.endpoint].page = response->body;
    replies[want.endpoint].trouble = response->trouble;
  }
  return replies;
}

}  // namespace unhang::collect
