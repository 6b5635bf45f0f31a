// SPDX-License-Identifier: Apache-2.0
//
// An inference engine as a source of a capture: its page of metrics several times, and what its health check
// says meanwhile. Pages are kept as they came.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"
#include "net/http_client.h"

namespace unhang::collect {

// One GET that takes at most so long.
using FetchPage =
    std::function<base::Result<net::HttpResponse>(const std::string& url, std::chrono::nanoseconds timeout)>;
base::Result<net::HttpResponse> fetch_page(const std::string& url, std::chrono::nanoseconds timeout);

struct EnginePages {
  std::string metrics, health;
};
// "http://node3:8000" or the address of its page of metrics.
EnginePages engine_pages(std::string_view url);

CaptureSource engine_source(std::string id, const std::string& url, CaptureSampling sampling, FetchPage fetch,
                            std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
