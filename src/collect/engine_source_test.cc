// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_source.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Status = model::SourceStatus;

class EngineSourceTest : public fixture::BundleTest {
 protected:
  static net::HttpResponse page(int status, const std::string& body) {
    net::HttpResponse response;
    response.status = status;
    response.body = body;
    response.headers = {{"content-type", "text/plain"}, {"set-cookie", "session=secret"}};
    return response;
  }
  SourceOutcome run(FetchPage fetch, const std::string& url = "http://user:secret@node3:8000/?token=abc") {
    const CaptureSource source = engine_source(
        "engine-1", url, x_sampling,
        [this, fetch = std::move(fetch)](const std::string& asked, std::chrono::nanoseconds timeout) {
          x_asked.push_back(asked);
          return fetch(asked, timeout);
        },
        std::make_shared<CaptureNames>());
    x_shown = source.asked;
    return run_alone(source);
  }

  CaptureSampling x_sampling{2, 4s};
  std::vector<std::string> x_asked;
  std::string x_shown;
};

TEST_F(EngineSourceTest, KeepsMetricsAndHealth) {
  const auto outcome =
      run([](const std::string& url, std::chrono::nanoseconds) -> base::Result<net::HttpResponse> {
        return url.find("/metrics") != std::string::npos ? page(200, "vllm:x 1\n") : page(200, "ok");
      });
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(x_asked, (std::vector<std::string>{"http://user:secret@node3:8000/metrics?token=abc",
                                               "http://user:secret@node3:8000/health?token=abc",
                                               "http://user:secret@node3:8000/metrics?token=abc",
                                               "http://user:secret@node3:8000/health?token=abc"}));
  EXPECT_EQ(x_shown, "http://node3:8000/?token=removed");
  EXPECT_EQ(files_on_disk(),
            (std::vector<std::string>{"engine/000-20261129T150129.000Z-node3_8000-metrics.txt",
                                      "engine/001-20261129T150129.000Z-node3_8000-health.http",
                                      "engine/002-20261129T150133.000Z-node3_8000-metrics.txt",
                                      "engine/003-20261129T150133.000Z-node3_8000-health.http"}));
  EXPECT_EQ(content(x_bundle / x_files.at(0).path), "vllm:x 1\n");
  EXPECT_EQ(content(x_bundle / x_files.at(1).path), "HTTP 200\ncontent-type: text/plain\n\nok");
  EXPECT_EQ(x_files.at(1).note, "health 200");
}

TEST_F(EngineSourceTest, AnErrorPageIsNoPageOfMetrics) {
  x_sampling.samples = 1;
  const auto outcome =
      run([](const std::string&, std::chrono::nanoseconds) -> base::Result<net::HttpResponse> {
        return page(503, "starting");
      });
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "metrics: HTTP 503");
  EXPECT_EQ(x_files.at(0).note, "metrics 503");
  EXPECT_TRUE(x_files.at(0).path.ends_with("-metrics.http"));
}

TEST_F(EngineSourceTest, NothingListensOrNothingComes) {
  const auto refused =
      run([](const std::string& url, std::chrono::nanoseconds) -> base::Result<net::HttpResponse> {
        return base::fail(base::ErrorCode::kUnavailable, url + ": connection refused");
      });
  EXPECT_EQ(refused.status, Status::kRefused);
  EXPECT_EQ(refused.reason,
            "metrics: http://node3:8000/metrics?token=removed: connection refused; "
            "health: http://node3:8000/health?token=removed: connection refused");
  EXPECT_EQ(x_asked.size(), 2u) << "asked once";
}

TEST_F(EngineSourceTest, AMuteEngineIsSilent) {
  const auto outcome =
      run([this](const std::string&, std::chrono::nanoseconds timeout) -> base::Result<net::HttpResponse> {
        EXPECT_LE(timeout, 5s);
        x_clock->advance(timeout);
        return base::fail(base::ErrorCode::kTryAgain, "no answer");
      });
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_TRUE(files_on_disk().empty());
}

TEST(EnginePages, FromWhateverIsGiven) {
  for (const char* url : {"http://h:1", "http://h:1/", "http://h:1/metrics", "http://h:1/metrics/", "h:1"}) {
    EXPECT_EQ(engine_pages(url).metrics, "http://h:1/metrics") << url;
    EXPECT_EQ(engine_pages(url).health, "http://h:1/health") << url;
  }
  EXPECT_EQ(engine_pages("https://h/base/metrics?k=v").health, "https://h/base/health?k=v");
}

}  // namespace
}  // namespace unhang::collect
