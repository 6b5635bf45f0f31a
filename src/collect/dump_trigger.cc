// SPDX-License-Identifier: Apache-2.0
#include "collect/dump_trigger.h"

#include <algorithm>

#include "collect/dump_finder.h"
#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "net/http_client.h"
#include "os/fifo_signal.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kPipe = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE", kRank = "RANK";
constexpr std::chrono::seconds kLongestWait{20};
constexpr std::chrono::milliseconds kStep{500};
// Left for copying what has come.
constexpr std::chrono::milliseconds kForCopying{1500};
constexpr std::size_t kMaxAnswer = std::size_t{256} << 20;
constexpr std::chrono::seconds kLongestAnswer{20};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Trigger {
 public:
  Trigger(const DumpSearch& search, CaptureContext& context)
      : x_search(search), x_context(context), x_tally(context) {}

  SourceOutcome run() {
    CopiedDumps before = copy_dumps(x_search, x_context);
    for (const os::Process& worker : x_search.workers) signal(worker);
    if (x_signalled == 0) {
      x_tally.note("no dump was triggered: no worker listens at a pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE)");
      return both(before.outcome, {});
    }
    DumpSearch after = x_search;
    after.folder = "flight_recorder_triggered";
    after.known = std::move(before.dumps);
    wait_for_dumps(after);
    const CopiedDumps copied = copy_dumps(after, x_context);
    if (copied.dumps.size() < x_signalled)
      x_tally.no_answer(std::to_string(copied.dumps.size()) + " of " + std::to_string(x_signalled) +
                        " workers wrote a dump after it was triggered");
    return both(before.outcome, copied.outcome);
  }

 private:
  void signal(const os::Process& worker) {
    const std::string* stem = worker.variable(kPipe);
    const std::string* rank = worker.variable(kRank);
    if (stem == nullptr || stem->empty()) return;
    if (rank == nullptr || !is_number(*rank)) {
      x_tally.note("process " + std::to_string(worker.pid) + " has a pipe and no RANK to find it by");
      return;
    }
    if (x_context.stopping()) return;
    std::string root = worker.root;
    if (stem->front() != '/') {
      root = worker.root.substr(0, worker.root.rfind('/')) + "/cwd";
    } else if (!x_search.own_namespace.empty() && worker.mount_namespace == x_search.own_namespace) {
      root.clear();
    }
    const auto sent = os::signal_fifo(root, trigger_pipe(*stem, *rank), worker.user.value_or(-1));
    if (sent) {
      ++x_signalled;
    } else {
      x_tally.note("rank " + *rank + " was not triggered: " + sent.error().message);
    }
  }

  void wait_for_dumps(const DumpSearch& after) {
    const auto end = std::min(x_context.now() + kLongestWait, x_context.deadline() - kForCopying);
    while (x_context.now() < end && x_context.wait_until(std::min(end, x_context.now() + kStep))) {
      if (find_dumps(after, x_tally.read_deadlines()).dumps.size() >= x_signalled) return;
    }
  }

  // What the two copies and the trigger said.
  SourceOutcome both(const SourceOutcome& first, const SourceOutcome& second) const {
    using Status = model::SourceStatus;
    const auto gave = [](const SourceOutcome& outcome) {
      return outcome.status == Status::kAnswered || outcome.status == Status::kPartial;
    };
    SourceOutcome out = gave(first) || x_signalled == 0 ? first : second;
    out.reason.clear();
    const auto add = [&](const std::string& text) {
      if (!text.empty()) out.reason += (out.reason.empty() ? "" : "; ") + text;
    };
    add(x_tally.outcome({}).reason);
    if (!gave(second)) add(first.reason);
    add(second.reason);
    if (gave(out)) out.status = out.reason.empty() ? Status::kAnswered : Status::kPartial;
    return out;
  }

  const DumpSearch& x_search;
  CaptureContext& x_context;
  SourceTally x_tally;
  std::size_t x_signalled = 0;
};

// The first handler that this build of PyTorch has.
base::Result<net::HttpResponse> post(const TriggerEndpoint& endpoint, SourceTally& tally, bool& is_json) {
  static const std::vector<std::pair<std::string, bool>> handlers{
      {"dump_nccl_trace_pickle?includecollectives=true&includestacktraces=true&onlyactive=false", false},
      {"dump_nccl_trace_json?includecollectives=true&onlyactive=false", true},
      {"fr_trace_json", true}};
  base::Result<net::HttpResponse> response;
  for (const auto& [handler, json] : handlers) {
    net::HttpRequest request;
    request.url = endpoint.url + (endpoint.url.ends_with('/') ? "" : "/") + "handler/" + handler;
    request.post = true;
    request.max_bytes = kMaxAnswer;
    const auto left = std::min<std::chrono::nanoseconds>(
        kLongestAnswer, tally.real_deadline() - std::chrono::steady_clock::now());
    request.deadline =
        net::Deadline::in(std::max<std::chrono::nanoseconds>(left, std::chrono::milliseconds(1)));
    response = net::http_get(request);
    is_json = json;
    if (!response || response->status != 404) return response;
  }
  return response;
}

}  // namespace

std::string trigger_pipe(const std::string& stem, const std::string& rank) {
  return stem + rank + ".pipe";
}

CaptureSource triggered_dumps_source(std::string id, DumpSearch search) {
  CaptureSource source = flight_recorder_source(std::move(id), search);
  source.asked += ", and new ones by their pipes";
  source.run = [kept = std::make_shared<const DumpSearch>(std::move(search))](CaptureContext& context) {
    return Trigger(*kept, context).run();
  };
  return source;
}

base::Result<TriggerEndpoint> parse_trigger_url(const std::string& text) {
  TriggerEndpoint endpoint;
  const std::size_t equals = text.find('=');
  const std::size_t scheme = text.find("://");
  std::string url = text;
  if (equals != std::string::npos && equals < scheme) {
    endpoint.rank = text.substr(0, equals);
    url = text.substr(equals + 1);
  }
  const bool is_http = url.starts_with("http://") || url.starts_with("https://");
  if (!is_http || url.find_first_of("?#") != std::string::npos ||
      (!endpoint.rank.empty() && !is_number(endpoint.rank)))
    return base::fail(base::ErrorCode::kUsage,
                      "--trigger-url: '" + without_secrets(text) + "' is not [RANK=]http://HOST:PORT");
  endpoint.url = std::move(url);
  return endpoint;
}

CaptureSource http_dump_source(std::string id, TriggerEndpoint endpoint) {
  CaptureSource source;
  source.id = std::move(id);
  source.kind = "flight_recorder";
  source.asked_kind = "url";
  source.asked = without_secrets(endpoint.url);
  source.run = [endpoint = std::move(endpoint)](CaptureContext& context) -> SourceOutcome {
    SourceTally tally(context);
    bool is_json = false;
    const auto response = post(endpoint, tally, is_json);
    if (!response) return {model::SourceStatus::kRefused, response.error().message, {}};
    if (response->status != 200 || response->body.empty())
      return {model::SourceStatus::kRefused,
              "it answered HTTP " + std::to_string(response->status) +
                  (response->body.empty() ? " and nothing" : ""),
              {}};
    if (!response->complete()) tally.note(response->trouble);
    std::string host = without_secrets(endpoint.url);
    host = host.substr(host.find("://") + 3);
    model::BundleFile facts;
    facts.path = "flight_recorder_triggered/" + clean_name(host) + "/" +
                 (endpoint.rank.empty() ? "dump" : "nccl_trace_rank_" + endpoint.rank) +
                 (is_json ? ".json" : "");
    facts.cut = !response->complete();
    tally.keep(response->body, std::move(facts));
    return tally.outcome({});
  };
  return source;
}

}  // namespace unhang::collect
