// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_source.h"

#include <algorithm>
#include <utility>

#include "base/duration.h"

namespace unhang::collect {
namespace {

class RasSampler {
 public:
  RasSampler(const std::string& address, const CaptureSampling& sampling, const PollRas& poll,
             CaptureNames& names, CaptureContext& context)
      : x_address(address), x_sampling(sampling), x_poll(poll), x_names(names), x_context(context) {}

  SourceOutcome run() {
    for (int i = 0; i < x_sampling.samples; ++i) {
      if (i > 0 && !x_context.wait_until(x_context.now() + x_sampling.gap)) break;
      if (x_context.stopping()) break;
      ++x_polls;
      RasPoll poll = x_poll(x_context.deadline() - x_context.now());
      std::stable_sort(poll.replies.begin(), poll.replies.end(), [](const RasReply& a, const RasReply& b) {
        return a.started_ns + a.elapsed.count() < b.started_ns + b.elapsed.count();
      });
      for (const RasReply& reply : poll.replies) take(reply);
      x_silent = x_silent || poll.interrupted;  // it was not given the time to answer
      if (poll.interrupted) break;
      // What may not be asked, or does not listen, will not be different in a few seconds.
      if (x_kept == 0 && !x_silent) break;
    }
    return outcome();
  }

 private:
  void take(const RasReply& reply) {
    if (!reply.trouble.empty()) x_trouble = reply.trouble;
    x_not_asked = x_not_asked || reply.refused;
    x_silent = x_silent || reply.deadline || reply.mute > 0;
    if (reply.bytes.empty()) {
      ++x_failures;
      return;
    }
    if (!reply.complete) ++x_failures;
    if (const auto release = release_of_answer(reply.bytes)) x_release = release->text();
    model::BundleFile facts;
    facts.captured_ns = reply.started_ns + reply.elapsed.count();
    facts.path = x_names.next("ras", facts.captured_ns, reply.resolved.empty() ? x_address : reply.resolved,
                              reply.is_json ? ".json" : ".txt");
    if (!reply.complete) facts.note = "not complete: " + reply.trouble;
    if (const auto kept = x_context.keep(reply.bytes, std::move(facts)); !kept) {
      ++x_failures;
      x_trouble = kept.error().message;
    } else {
      ++x_kept;
    }
  }

  SourceOutcome outcome() const {
    using Status = model::SourceStatus;
    SourceOutcome out;
    out.nccl_version = x_release;
    if (x_kept > 0) {
      out.status = x_failures == 0 ? Status::kAnswered : Status::kPartial;
      if (x_polls < x_sampling.samples)
        out.reason = "asked " + std::to_string(x_polls) + " of " + std::to_string(x_sampling.samples) +
                     " times: no time was left for more";
      if (!x_trouble.empty()) out.reason += (out.reason.empty() ? "" : "; ") + x_trouble;
    } else if (x_polls == 0) {
      out = {Status::kSilent, "not asked: no time was left", {}};
    } else {
      out.status = x_not_asked ? Status::kFailed : x_silent ? Status::kSilent : Status::kRefused;
      out.reason = (x_not_asked ? "not asked: " : "") + x_trouble;
    }
    return out;
  }

  const std::string& x_address;
  const CaptureSampling& x_sampling;
  const PollRas& x_poll;
  CaptureNames& x_names;
  CaptureContext& x_context;
  int x_polls = 0;
  std::size_t x_kept = 0, x_failures = 0;
  std::string x_trouble, x_release;
  bool x_not_asked = false, x_silent = false;
};

}  // namespace

PollRas live_ras(net::HostPort address, RasClientOptions options, int wake_fd) {
  struct State {
    net::HostPort address;
    RasClientOptions options;
    int wake_fd;
    std::unique_ptr<RasClient> client;
  };
  const auto state = std::make_shared<State>(State{std::move(address), std::move(options), wake_fd, nullptr});
  return [state](std::chrono::nanoseconds timeout) {
    RasClientOptions used = state->options;
    used.force = false;
    // What a client has learned is worth keeping as long as its polls may take their usual time.
    const bool short_of_time = timeout < used.timeout;
    if (short_of_time) used.timeout = timeout;
    if (short_of_time || !state->client)
      state->client = std::make_unique<RasClient>(std::vector<net::HostPort>{state->address}, used);
    return state->client->poll(state->wake_fd);
  };
}

CaptureSource ras_source(std::string id, const std::string& address, CaptureSampling sampling, PollRas poll,
                         std::shared_ptr<CaptureNames> names) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "ras";
  source.asked_kind = "address";
  source.asked = address;
  source.run = [address, sampling, poll = std::move(poll),
                names = std::move(names)](CaptureContext& context) {
    return RasSampler(address, sampling, poll, *names, context).run();
  };
  return source;
}

}  // namespace unhang::collect
