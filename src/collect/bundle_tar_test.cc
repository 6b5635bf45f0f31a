// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_tar.h"

#include <vector>

#include <gtest/gtest.h>

namespace unhang::collect {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string member(const std::string& path, const std::string& bytes) {
  return tar_header(path, bytes.size()) + bytes + tar_padding(bytes.size());
}
std::string other_type(const std::string& path, char type) {
  std::string header = tar_header(path, 0);
  const int change = type - header[156];
  header[156] = type;
  unsigned sum = static_cast<unsigned>(std::stoul(header.substr(148, 6), nullptr, 8) + change);
  for (int i = 5; i >= 0; --i, sum /= 8) header[148 + i] = static_cast<char>('0' + sum % 8);
  return header;
}

struct Reading {
  Files files;
  std::string fault;
  bool well = true, complete = false, begun = false;
};

Reading read(const std::string& tar, std::size_t piece, BundleTarLimits limits = {}) {
  Reading out;
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
                            out.files.emplace_back(path, bytes);
                            return true;
                          }},
                         limits);
  for (std::size_t at = 0; at < tar.size() && out.well; at += piece)
    out.well = reader.feed(std::string_view(tar).substr(at, piece));
  out.fault = reader.fault();
  out.complete = reader.complete();
  out.begun = reader.begun();
  return out;
}

const std::string kFirst = member("manifest.json", "{}");

TEST(BundleTar, WhatWasWrittenIsReadWhereverThePiecesEnd) {
  const std::string deep = std::string(90, 'a') + "/" + std::string(90, 'b');
  const Files files{{"manifest.json", "{}"},
                    {"ras/000", std::string(1500, 'x')},
                    {"empty", ""},
                    {deep, "deep"},
                    {"even", std::string(1024, 'y')}};
  std::string tar;
  for (const auto& [path, bytes] : files) tar += member(path, bytes);
  tar += tar_end() + std::string(4096, '\0');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{511}, std::size_t{512}, tar.size()}) {
    const Reading got = read(tar, piece);
    EXPECT_TRUE(got.well) << got.fault;
    EXPECT_TRUE(got.complete);
    EXPECT_EQ(got.files, files);
  }
}

TEST(BundleTar, WhatALoginPrintsIsPassedOver) {
  const Reading got = read("Welcome to node01!\nmanifest.json is a file\n" + kFirst + tar_end(), 7);
  EXPECT_TRUE(got.well) << got.fault;
  EXPECT_EQ(got.files, (Files{{"manifest.json", "{}"}}));
}

TEST(BundleTar, ATarThatBreaksOffGivesItsWholeFiles) {
  const std::string tar = kFirst + member("a", "1") + member("b", std::string(900, '2'));
  const Reading got = read(tar.substr(0, tar.size() - 600), 100);
  EXPECT_TRUE(got.well);
  EXPECT_FALSE(got.complete);
  EXPECT_EQ(got.files, (Files{{"manifest.json", "{}"}, {"a", "1"}}));
}

TEST(BundleTar, NothingLeadsOutOfTheBundle) {
  for (const std::string path :
       {"../evil", "/etc/passwd", "a/../../evil", "a//b", ".", "a/.", "a\\b", "a\nb", "\xff\xfe", ""}) {
    const Reading got = read(kFirst + member(path, "x") + tar_end(), 512);
    EXPECT_FALSE(got.well) << path;
    EXPECT_NE(got.fault.find("leads out of the bundle"), std::string::npos) << got.fault;
    EXPECT_EQ(got.files.size(), 1U);
  }
  const std::string deep = "../" + std::string(200, 'x');
  EXPECT_FALSE(read(kFirst + member(deep, "x"), 512).well) << "also by a pax header";
}

TEST(BundleTar, OnlyPlainFilesAreTaken) {
  for (const char type : {'1', '2', '3', '4', '5', '6', 'L', 'K', 'g', 'S'}) {
    const Reading got = read(kFirst + other_type("link", type) + tar_end(), 512);
    EXPECT_FALSE(got.well) << type;
    EXPECT_NE(got.fault.find("no plain file"), std::string::npos);
  }
  EXPECT_TRUE(read(kFirst + other_type("file", '0') + tar_end(), 512).well) << "the test itself";
}

TEST(BundleTar, IsBounded) {
  BundleTarLimits limits;
  limits.max_file_bytes = 1000;
  limits.max_bytes = 1500;
  limits.max_files = 3;
  EXPECT_TRUE(read(kFirst + member("a", std::string(1000, 'x')), 512, limits).well);
  EXPECT_FALSE(read(kFirst + tar_header("a", 1001), 512, limits).well);
  EXPECT_FALSE(read(kFirst + tar_header("a", (std::uint64_t{1} << 33) - 1), 512).well);
  EXPECT_FALSE(read(kFirst + member("a", std::string(900, 'x')) + tar_header("b", 900), 512, limits).well);
  EXPECT_FALSE(read(kFirst + member("a", "") + member("b", "") + member("c", ""), 512, limits).well);
}

TEST(BundleTar, GarbageIsNoBundle) {
  const Reading small = read("sh: unhang: not found\n", 5);
  EXPECT_TRUE(small.well);
  EXPECT_FALSE(small.begun);
  const Reading large = read(std::string(200 << 10, 'g'), 4096);
  EXPECT_FALSE(large.well);
  EXPECT_EQ(large.fault, "what it sent is no bundle");
  std::string damaged = kFirst + member("a", "1");
  damaged[kFirst.size() + 5] = 'z';
  EXPECT_FALSE(read(damaged, 512).well);
}

}  // namespace
}  // namespace unhang::collect
