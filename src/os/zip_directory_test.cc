// SPDX-License-Identifier: Apache-2.0
#include "os/zip_directory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "os/archive_fixture.h"

namespace unhang::os {
namespace {

using namespace std::string_literals;

std::string little(std::uint64_t value, std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::string end_record(std::uint64_t directory_size, std::uint64_t directory_offset) {
  return "PK\x05\x06"s + std::string(8, '\0') + little(directory_size, 4) + little(directory_offset, 4) +
         little(0, 2);
}

// The span of a file of `size` bytes that ends with `tail` and is zeros before.
std::uint64_t span(std::uint64_t size, const std::string& tail) {
  return zip_directory_span(size, [&](std::uint64_t offset, std::size_t count) {
    std::string out;
    for (std::uint64_t i = offset; i < size && out.size() < count; ++i) {
      out += i < size - tail.size() ? '\0' : tail[i - (size - tail.size())];
    }
    return out;
  });
}

TEST(ZipDirectory, IsFoundInWhatAWriterMakes) {
  const std::string zip = fixture::make_zip({{"a", "1"}, {"b", "2"}});
  const std::uint64_t found = span(zip.size(), zip);
  EXPECT_EQ(found, zip.size() - zip.find("PK\x01\x02"));
}

TEST(ZipDirectory, ACutOrForeignFileHasNone) {
  const std::string zip = fixture::make_zip({{"a", "1"}});
  EXPECT_EQ(span(zip.size() - 22, zip.substr(0, zip.size() - 22)), 0u);
  EXPECT_EQ(span(0, ""), 0u);
  EXPECT_EQ(span(100, "text"), 0u);
  EXPECT_EQ(span(10, "PK\x05\x06"), 0u);
}

TEST(ZipDirectory, TheFurthestStartThatIsClaimedCounts) {
  const std::string plain = end_record(1000, 5000);
  EXPECT_EQ(span(10'000, plain), 5000u);                          // by offset
  EXPECT_EQ(span(10'000, end_record(9000, 9900)), 9022u);         // by size
  EXPECT_EQ(span(10'000, end_record(20'000, 9900)), 100u);        // no such size
  EXPECT_EQ(span(10'000, end_record(100, 2000) + plain), 8000u);  // two end records
}

TEST(ZipDirectory, LargeZipsHaveTheirOwnRecord) {
  const std::uint64_t size = 100'000'000;
  const std::string record = "PK\x06\x06"s + std::string(36, '\0') + little(80'000'000, 8) + little(1000, 8);
  ASSERT_EQ(record.size(), 56u);
  const std::string locator = "PK\x06\x07"s + little(0, 4) + little(size - 98, 8) + little(1, 4);
  const std::string tail = record + locator + end_record(0xffffffff, 0xffffffff);
  ASSERT_EQ(tail.size(), 98u);
  EXPECT_EQ(span(size, tail), size - 1000);
}

}  // namespace
}  // namespace unhang::os
