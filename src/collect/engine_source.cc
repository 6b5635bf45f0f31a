// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_source.h"

#include <algorithm>
#include <utility>

#include "collect/redaction.h"

namespace unhang::collect {
namespace {

// An engine whose page takes longer than this is asked again rather than waited for.
constexpr std::chrono::nanoseconds kLongestPage = std::chrono::seconds(5);

// "node3:8000" of "http://node3:8000/metrics"
std::string host_of(std::string_view url) {
  const std::string plain = without_secrets(url);
  const std::size_t scheme = plain.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  return plain.substr(host, plain.find_first_of("/?", host) - host);
}

class EngineSampler {
 public:
  EngineSampler(const std::string& url, const CaptureSampling& sampling, const FetchPage& fetch,
                CaptureNames& names, CaptureContext& context)
      : x_host(host_of(url)),
        x_pages(engine_pages(url)),
        x_sampling(sampling),
        x_fetch(fetch),
        x_names(names),
        x_context(context) {}

  SourceOutcome run() {
    int samples = 0;
    for (; samples < x_sampling.samples; ++samples) {
      if (samples > 0 && !x_context.wait_until(x_context.now() + x_sampling.gap)) break;
      if (x_context.stopping()) break;
      ask(x_pages.metrics, "metrics", true);
      if (!x_context.stopping()) ask(x_pages.health, "health", false);
      if (x_kept == 0 && !x_silent) {
        ++samples;
        break;  // nothing listens there
      }
    }
    return outcome(samples);
  }

 private:
  void ask(const std::string& url, std::string_view what, bool is_metrics) {
    const auto left =
        std::min<std::chrono::nanoseconds>(kLongestPage, x_context.deadline() - x_context.now());
    const auto response = x_fetch(url, left);
    if (!response) {
      x_silent = x_silent || response.error().code == base::ErrorCode::kTryAgain;
      note(what, response.error().message);
      return;
    }
    const bool good = response->status == 200 && response->complete();
    if (is_metrics && !good)
      note(what, response->complete() ? "HTTP " + std::to_string(response->status) : response->trouble);
    keep(*response, what, is_metrics && response->status == 200);
  }

  // A page of metrics is kept as it is, everything else with its status and headers: there they are what
  // matters.
  void keep(const net::HttpResponse& response, std::string_view what, bool plain) {
    model::BundleFile facts;
    facts.captured_ns = x_context.wall_ns();
    facts.path = x_names.next("engine", facts.captured_ns, x_host,
                              "-" + std::string(what) + (plain ? ".txt" : ".http"));
    facts.note = std::string(what) + " " + std::to_string(response.status);
    facts.cut = !response.complete();
    std::string bytes;
    if (!plain) {
      bytes = "HTTP " + std::to_string(response.status) + "\n";
      for (const auto& [name, value] : response.headers) {
        if (name != "set-cookie") bytes.append(name).append(": ").append(value).append("\n");
      }
      bytes += "\n";
    }
    bytes += response.body;
    if (const auto kept = x_context.keep(bytes, std::move(facts)); !kept) {
      note(what, kept.error().message);
    } else {
      ++x_kept;
    }
  }

  void note(std::string_view what, std::string text) {
    for (const std::string& page : {x_pages.metrics, x_pages.health}) {
      if (const std::size_t at = text.find(page); at != std::string::npos)
        text.replace(at, page.size(), without_secrets(page));
    }
    const std::string line = std::string(what) + ": " + text;
    if (std::find(x_notes.begin(), x_notes.end(), line) == x_notes.end()) x_notes.push_back(line);
  }

  SourceOutcome outcome(int samples) const {
    using Status = model::SourceStatus;
    SourceOutcome out;
    for (const std::string& line : x_notes) out.reason += (out.reason.empty() ? "" : "; ") + line;
    if (samples == 0) {
      out = {Status::kSilent, "not asked: no time was left", {}};
    } else if (x_kept == 0) {
      out.status = x_silent ? Status::kSilent : Status::kRefused;
    } else {
      out.status = x_notes.empty() ? Status::kAnswered : Status::kPartial;
      if (samples < x_sampling.samples)
        out.reason += std::string(out.reason.empty() ? "" : "; ") + "asked " + std::to_string(samples) +
                      " of " + std::to_string(x_sampling.samples) + " times: no time was left for more";
    }
    return out;
  }

  const std::string x_host;
  const EnginePages x_pages;
  const CaptureSampling& x_sampling;
  const FetchPage& x_fetch;
  CaptureNames& x_names;
  CaptureContext& x_context;
  std::vector<std::string> x_notes;
  std::size_t x_kept = 0;
  bool x_silent = false;
};

}  // namespace

base::Result<net::HttpResponse> fetch_page(const std::string& url, std::chrono::nanoseconds timeout) {
  net::HttpRequest request;
  request.url = url;
  request.deadline = net::Deadline::in(timeout);
  return net::http_get(request);
}

EnginePages engine_pages(std::string_view url) {
  // A token may stand behind the question mark: it belongs to both pages.
  const std::size_t question = std::min(url.find('?'), url.size());
  std::string base(url.substr(0, question));
  const std::string query(url.substr(question));
  if (base.find("://") == std::string::npos) base.insert(0, "http://");
  while (base.ends_with('/')) base.pop_back();
  constexpr std::string_view kMetrics = "/metrics";
  const std::string root = base.ends_with(kMetrics) ? base.substr(0, base.size() - kMetrics.size()) : base;
  return {root + std::string(kMetrics) + query, root + "/health" + query};
}

CaptureSource engine_source(std::string id, const std::string& url, CaptureSampling sampling, FetchPage fetch,
                            std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "engine";
  source.asked_kind = "url";
  source.asked = without_secrets(url);
  source.run = [url, sampling, fetch = std::move(fetch), names = std::move(names)](CaptureContext& context) {
    return EngineSampler(url, sampling, fetch, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
