// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_source.h"

#include <algorithm>
#include <utility>

namespace unhang::collect {
namespace {

// An engine whose page takes longer than this is asked again rather than waited for.
constexpr std::chrono::nanoseconds kLongestPoll = std::chrono::seconds(5);

// "node3:8000" of "http://node3:8000/metrics"
std::string host_of(const std::string& shown) {
  const std::size_t scheme = shown.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  return shown.substr(host, shown.find_first_of("/?", host) - host);
}

class EngineSampler {
 public:
  EngineSampler(const std::string& shown, const CaptureSampling& sampling, const PollEngine& poll,
                CaptureNames& names, CaptureContext& context)
      : x_host(host_of(shown)), x_sampling(sampling), x_poll(poll), x_names(names), x_context(context) {}

  SourceOutcome run() {
    for (int i = 0; i < x_sampling.samples; ++i) {
      if (i > 0 && !x_context.wait_until(x_context.now() + x_sampling.gap)) break;
      if (x_context.stopping()) break;
      ++x_polls;
      const auto began = x_context.now();
      const auto left = std::min<std::chrono::nanoseconds>(kLongestPoll, x_context.deadline() - began);
      const EngineReply reply = x_poll(left);
      take(reply);
      // A refusal comes at once and will not be different in a few seconds.
      x_silent = x_silent || reply.interrupted || x_context.now() - began >= left;
      if (reply.interrupted || (x_kept == 0 && !x_silent)) break;
    }
    return outcome();
  }

 private:
  void take(const EngineReply& reply) {
    if (!reply.trouble.empty()) note("metrics: " + reply.trouble);
    if (!reply.health_trouble.empty()) note("health: " + reply.health_trouble);
    if (!reply.page.empty()) keep(reply.page, "metrics", "-metrics.txt", !reply.trouble.empty());
    if (reply.health) {
      const std::string status = std::to_string(*reply.health);
      keep("HTTP " + status + "\n", "health " + status, "-health.http", false);
    }
  }

  void keep(std::string_view bytes, const std::string& what, std::string_view ending, bool cut) {
    model::BundleFile facts;
    facts.captured_ns = x_context.wall_ns();
    facts.path = x_names.next("engine", facts.captured_ns, x_host, ending);
    facts.note = what;
    facts.cut = cut;
    if (const auto kept = x_context.keep(bytes, std::move(facts)); !kept) {
      note(kept.error().message);
    } else {
      ++x_kept;
    }
  }

  void note(std::string line) {
    if (std::find(x_notes.begin(), x_notes.end(), line) == x_notes.end()) x_notes.push_back(std::move(line));
  }

  SourceOutcome outcome() const {
    using Status = model::SourceStatus;
    if (x_polls == 0) return {Status::kSilent, "not asked: no time was left", {}};
    SourceOutcome out;
    for (const std::string& line : x_notes) out.reason += (out.reason.empty() ? "" : "; ") + line;
    if (x_kept == 0) {
      out.status = x_silent ? Status::kSilent : Status::kRefused;
      return out;
    }
    out.status = x_notes.empty() ? Status::kAnswered : Status::kPartial;
    if (x_polls < x_sampling.samples) {
      out.reason += std::string(out.reason.empty() ? "" : "; ") + "asked " + std::to_string(x_polls) +
                    " of " + std::to_string(x_sampling.samples) + " times: no time was left for more";
    }
    return out;
  }

  const std::string x_host;
  const CaptureSampling& x_sampling;
  const PollEngine& x_poll;
  CaptureNames& x_names;
  CaptureContext& x_context;
  std::vector<std::string> x_notes;
  int x_polls = 0;
  std::size_t x_kept = 0;
  bool x_silent = false;
};

}  // namespace

PollEngine live_engine(EngineEndpoint endpoint, int wake_fd) {
  const auto client = std::make_shared<EngineClient>(std::vector<EngineEndpoint>{std::move(endpoint)});
  return [client, wake_fd](std::chrono::nanoseconds timeout) {
    std::vector<EngineReply> replies = client->poll({true}, timeout, wake_fd);
    return replies.empty() ? EngineReply{} : std::move(replies.front());
  };
}

CaptureSource engine_source(std::string id, const std::string& shown, CaptureSampling sampling,
                            PollEngine poll, std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "engine";
  source.asked_kind = "url";
  source.asked = shown;
  source.run = [shown, sampling, poll = std::move(poll), names = std::move(names)](CaptureContext& context) {
    return EngineSampler(shown, sampling, poll, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
