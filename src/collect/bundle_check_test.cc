// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_check.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

class BundleCheckTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  BundleCheckTest() {
    model::BundleManifest planned;
    planned.sources.push_back({.id = "s", .kind = "test"});
    auto writer = BundleWriter::create(x_bundle, planned);
    for (const char* name : {"a/one", "a/two", "three"})
      EXPECT_TRUE((*writer)->keep(0, "bytes", {.path = name}));
    EXPECT_TRUE((*writer)->finish(fixture::kStartNs, false));
  }
  std::vector<std::string> faults() {
    std::vector<std::string> out;
    const auto found = verify_bundle(x_bundle);
    EXPECT_TRUE(found);
    for (const auto& fault : found.value_or(std::vector<BundleFault>{}))
      out.push_back(fault.code + " " + fault.path);
    return out;
  }
};

TEST_F(BundleCheckTest, AFreshOneIsWhole) {
  EXPECT_TRUE(faults().empty());
}

TEST_F(BundleCheckTest, FindsWhatIsChangedMissingOrNew) {
  put("bundle/a/one", "BYTES");  // as long as before
  put("bundle/a/two", "more bytes");
  std::filesystem::remove(x_bundle / "three");
  put("bundle/four", "");
  put("bundle/.hidden", "");
  EXPECT_EQ(faults(),
            (std::vector<std::string>{"changed a/one", "changed a/two", "missing three", "not_listed four"}));
}

TEST_F(BundleCheckTest, TheManifestOfAMemberSpeaksForItself) {
  put("bundle/members/gpu-b07/manifest.json", "{}");
  EXPECT_TRUE(faults().empty());
  put("bundle/members/gpu-b07/ras/manifest.json", "{}");
  put("bundle/others/gpu-b07/manifest.json", "{}");
  EXPECT_EQ(faults(), (std::vector<std::string>{"not_listed members/gpu-b07/ras/manifest.json",
                                                "not_listed others/gpu-b07/manifest.json"}));
}

TEST_F(BundleCheckTest, ALinkInPlaceOfAFileIsNotFollowed) {
  std::filesystem::remove(x_bundle / "three");
  std::filesystem::create_symlink("a/one", x_bundle / "three");
  EXPECT_EQ(faults().front(), "missing three");
}

TEST_F(BundleCheckTest, SaysWhereThereIsNoManifest) {
  EXPECT_EQ(verify_bundle(x_folder).error().code, base::ErrorCode::kNoInput);
  put("bundle/manifest.json", "{");
  EXPECT_EQ(verify_bundle(x_bundle).error().code, base::ErrorCode::kData);
}

}  // namespace
}  // namespace unhang::collect
