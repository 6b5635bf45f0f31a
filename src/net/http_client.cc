// SPDX-License-Identifier: Apache-2.0
#define CURL_DISABLE_TYPECHECK    // its macros would hide the functions that are looked up by name here
#define CURL_DISABLE_DEPRECATION  // CURLOPT_PROTOCOLS: its successor is too new for Ubuntu 22.04
#include "net/http_client.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "base/printable.h"
#include "net/socket_error.h"

namespace unhang::net {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr long kMaxRedirects = 3;

struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) setopt = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) getinfo = nullptr;
  decltype(&curl_easy_strerror) strerror = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  std::string missing;  // empty: usable
};

template <class Function>
void look_up(void* library, const char* name, Function& into, std::string& missing) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (into == nullptr && missing.empty()) missing = fmt::format("libcurl has no function {}", name);
}

CurlLibrary load_library() {
  CurlLibrary curl;
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    curl.missing = "HTTP needs libcurl, which is not installed: apt install libcurl4 (dnf install libcurl)";
    return curl;
  }
  look_up(library, "curl_global_init", curl.global_init, curl.missing);
  look_up(library, "curl_easy_init", curl.init, curl.missing);
  look_up(library, "curl_easy_setopt", curl.setopt, curl.missing);
  look_up(library, "curl_easy_perform", curl.perform, curl.missing);
  look_up(library, "curl_easy_getinfo", curl.getinfo, curl.missing);
  look_up(library, "curl_easy_strerror", curl.strerror, curl.missing);
  look_up(library, "curl_easy_cleanup", curl.cleanup, curl.missing);
  look_up(library, "curl_slist_append", curl.slist_append, curl.missing);
  look_up(library, "curl_slist_free_all", curl.slist_free_all, curl.missing);
  if (curl.missing.empty() && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    curl.missing = "libcurl cannot be initialised";
  }
  return curl;
}

const CurlLibrary& library() {
  static const CurlLibrary library = load_library();
  return library;
}

// What the callbacks write to.
struct Reception {
  HttpResponse& response;
  std::size_t max_bytes;
  std::size_t header_bytes = 0;
  bool too_much = false;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& reception = *static_cast<Reception*>(user);
  std::string& body = reception.response.body;
  const std::size_t room = reception.max_bytes - body.size();
  body.append(bytes, std::min(room, count));
  reception.too_much = count > room;
  return reception.too_much ? 0 : count;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& reception = *static_cast<Reception*>(user);
  const std::string_view line(bytes, count);
  auto& headers = reception.response.headers;
  if (line.substr(0, 5) == "HTTP/") {
    headers.clear();  // a redirect, or "100 Continue": the one that counts comes last
    reception.response.body.clear();
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    headers.emplace_back(lower(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1))));
  }
  reception.header_bytes += count;
  return reception.header_bytes > kMaxHeaderBytes ? 0 : count;
}

// Without user, password and what is behind a question mark (it may be a token), for messages.
std::string shown(const std::string& url) {
  const std::size_t question = url.find_first_of("?#");
  std::string text = url.substr(0, question);
  const std::size_t scheme = text.find("://");
  const std::size_t at = text.rfind('@');  // a password may hold a slash
  if (scheme != std::string::npos && at != std::string::npos && at > scheme)
    text.erase(scheme + 3, at + 1 - (scheme + 3));
  return base::printable(text) + (question == std::string::npos ? "" : "?…");
}

// Loopback never goes through a proxy, whatever the environment says.
std::string no_proxy() {
  std::string list = "localhost,127.0.0.1,127.0.0.0/8,::1";
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value) == "*" ? "*" : list + "," + value;
  }
  return list;
}

void set_options(const CurlLibrary& curl, CURL* handle, const HttpRequest& request, Reception& reception) {
  constexpr long kProtocols = CURLPROTO_HTTP | CURLPROTO_HTTPS;
  constexpr auto kLongest = std::chrono::nanoseconds(std::chrono::hours(24));
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min(request.deadline.left(), kLongest));
  curl.setopt(handle, CURLOPT_URL, request.url.c_str());
  curl.setopt(handle, CURLOPT_PROTOCOLS, kProtocols);
  curl.setopt(handle, CURLOPT_REDIR_PROTOCOLS, kProtocols);
  curl.setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl.setopt(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl.setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.setopt(handle, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  curl.setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl.setopt(handle, CURLOPT_NOPROXY, no_proxy().c_str());
  if (request.post) {
    curl.setopt(handle, CURLOPT_POST, 1L);
    curl.setopt(handle, CURLOPT_POSTFIELDS, "");
    curl.setopt(handle, CURLOPT_POSTFIELDSIZE, 0L);
  }
  curl.setopt(handle, CURLOPT_USERAGENT, "unhang/" UNHANG_VERSION);
  curl.setopt(handle, CURLOPT_WRITEFUNCTION, &take_body);
  curl.setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&reception));
  curl.setopt(handle, CURLOPT_HEADERFUNCTION, &take_header);
  curl.setopt(handle, CURLOPT_HEADERDATA, static_cast<void*>(&reception));
#if LIBCURL_VERSION_NUM >= 0x075700
  // A name server that does not answer must not hold us after the deadline. An older libcurl refuses this.
  curl.setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

std::string why(const CurlLibrary& curl, CURL* handle, CURLcode code, const Reception& reception) {
  if (reception.too_much) return fmt::format("cut off after {} bytes", reception.max_bytes);
  if (code == CURLE_OPERATION_TIMEDOUT) return "no end of the answer before the deadline";
  if (code == CURLE_WRITE_ERROR) return "headers without end";
  if (code == CURLE_TOO_MANY_REDIRECTS) return fmt::format("more than {} redirects", kMaxRedirects);
  long number = 0;
  curl.getinfo(handle, CURLINFO_OS_ERRNO, &number);
  if (code == CURLE_COULDNT_CONNECT && number != 0) return error_text(static_cast<int>(number));
  if (code == CURLE_GOT_NOTHING) return "the server closed the connection without an answer";
  std::string text = base::printable(curl.strerror(code));
  if (!text.empty()) text.front() = lower(text.substr(0, 1)).front();
  return text;
}

base::Result<> check_url(const HttpRequest& request) {
  const std::string start = lower(std::string_view(request.url).substr(0, 8));
  const bool is_http = start.substr(0, 7) == "http://" || start == "https://";
  const bool clean = std::none_of(request.url.begin(), request.url.end(),
                                  [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  if (!is_http || !clean) {
    return fail(ErrorCode::kUsage,
                fmt::format("'{}' is no address that begins with http:// or https://", shown(request.url)));
  }
  return {};
}

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string http_missing() {
  return library().missing;
}

base::Result<HttpResponse> http_get(const HttpRequest& request) {
  if (auto checked = check_url(request); !checked) return fail(std::move(checked.error()));
  const CurlLibrary& curl = library();
  const std::string context = "GET " + shown(request.url);
  if (!curl.missing.empty()) return fail(ErrorCode::kUnavailable, context + ": " + curl.missing);
  if (request.deadline.passed()) return fail(ErrorCode::kTryAgain, context + ": the deadline has passed");
  const std::unique_ptr<CURL, decltype(curl.cleanup)> handle(curl.init(), curl.cleanup);
  if (!handle) return fail(ErrorCode::kUnavailable, context + ": libcurl has no memory");

  HttpResponse response;
  Reception reception{response, request.max_bytes};
  set_options(curl, handle.get(), request, reception);
  std::unique_ptr<curl_slist, decltype(curl.slist_free_all)> headers(nullptr, curl.slist_free_all);
  for (const std::string& header : request.headers) {
    curl_slist* longer = curl.slist_append(headers.get(), header.c_str());
    if (longer == nullptr) continue;
    (void)headers.release();
    headers.reset(longer);
  }
  if (headers) curl.setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());

  const SteadyTime start = steady_now();
  const CURLcode code = curl.perform(handle.get());
  response.elapsed = steady_now() - start;
  long status = 0;
  curl.getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  char* url = nullptr;
  curl.getinfo(handle.get(), CURLINFO_EFFECTIVE_URL, &url);
  response.url = url != nullptr ? url : request.url;
  if (code == CURLE_OK) return response;
  response.trouble = why(curl, handle.get(), code, reception);
  if (response.status != 0) return response;
  if (code == CURLE_OPERATION_TIMEDOUT)
    return fail(ErrorCode::kTryAgain, context + ": no answer before the deadline");
  return fail(code == CURLE_URL_MALFORMAT ? ErrorCode::kUsage : ErrorCode::kUnavailable,
              context + ": " + response.trouble);
}

}  // namespace unhang::net
