// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_stream.h"

#include <csignal>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/bundle_tar.h"
#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using Clock = std::chrono::steady_clock;

// Reads a pipe to its end; the last of several files with one path counts.
std::map<std::string, std::string> files_from(int fd, bool& complete) {
  std::map<std::string, std::string> files;
  std::string path, bytes;
  BundleTarReader reader({[&](const std::string& name, std::uint64_t) {
                            path = name;
                            bytes.clear();
                            return true;
                          },
                          [&](std::string_view more) {
                            bytes += more;
                            return true;
                          },
                          [&] {
                            files[path] = bytes;
                            return true;
                          }});
  char piece[5000];
  for (ssize_t got = 0; (got = ::read(fd, piece, sizeof piece)) > 0;)
    EXPECT_TRUE(reader.feed({piece, static_cast<std::size_t>(got)})) << reader.fault();
  complete = reader.complete();
  return files;
}

class BundleStreamTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  BundleStreamTest() {
    std::signal(SIGPIPE, SIG_IGN);  // as this program does
    EXPECT_EQ(::pipe(x_ends), 0);
  }
  ~BundleStreamTest() override { ::close(x_ends[0]); }
  int x_ends[2];
};

TEST_F(BundleStreamTest, SendsWhatIsWholeAndTheManifestThatListsIt) {
  put("bundle/manifest.json", "first");
  std::map<std::string, std::string> files;
  bool complete = false, broken = false;
  std::thread reader([&] { files = files_from(x_ends[0], complete); });
  BundleStream stream(x_bundle, x_ends[1], Clock::now() + std::chrono::seconds(60), [&] { broken = true; });
  put("bundle/ras/000", std::string(200'000, 'x'));
  put("bundle/ras/.000.part", "not whole");
  put("bundle/manifest.json", "last");
  EXPECT_TRUE(stream.finish());
  ::close(x_ends[1]);
  reader.join();
  EXPECT_FALSE(broken);
  EXPECT_TRUE(complete);
  EXPECT_EQ(files, (std::map<std::string, std::string>{{"manifest.json", "last"},
                                                       {"ras/000", std::string(200'000, 'x')}}));
}

TEST_F(BundleStreamTest, SaysWhenNobodyReads) {
  put("bundle/manifest.json", "first");
  put("bundle/large", std::string(1 << 20, 'x'));
  bool broken = false;
  BundleStream stream(x_bundle, x_ends[1], Clock::now() + std::chrono::milliseconds(300),
                      [&] { broken = true; });
  EXPECT_FALSE(stream.finish());
  EXPECT_TRUE(broken);
  ::close(x_ends[1]);
}

}  // namespace
}  // namespace unhang::collect
