// SPDX-License-Identifier: Apache-2.0
//
// "Nothing wrong" is said only about evidence that reaches to its end, and of one job.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

CaseBuilder all_done() {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.done(world, "all_reduce").done(world, "all_reduce");
  return c;
}

std::string answer(const model::Case& joined) {
  const model::Verdict verdict = diagnose(joined);
  return std::string(model::name_of(verdict.category)) + ' ' + std::to_string(model::exit_code(verdict));
}

TEST(Healthy, EverythingIsFinished) {
  CaseBuilder c = all_done();
  EXPECT_EQ(answer(c.joined()), "healthy 0");
}

TEST(Healthy, OneDumpMustReachItsEnd) {
  CaseBuilder c = all_done();
  c.cut(0, 1);
  EXPECT_EQ(answer(c.joined()), "healthy 0");
  c.cut(1, 1);
  EXPECT_EQ(answer(c.joined()), "inconclusive 3");
  EXPECT_NE(diagnose(c.joined()).headline.find("too little was read"), std::string::npos);
}

TEST(Healthy, NotBesideAnotherJob) {
  CaseBuilder c = all_done();
  model::Case joined = c.take();
  joined.set_aside.push_back({0, "the same dump of rank 0", true});
  EXPECT_EQ(answer(joined), "healthy 0");
  joined.set_aside.push_back({1, "another run", false});
  EXPECT_EQ(answer(joined), "inconclusive 3");
  EXPECT_NE(diagnose(joined).headline.find("1 file was set aside"), std::string::npos);
}

TEST(Healthy, NothingAtAll) {
  EXPECT_EQ(answer(model::Case()), "inconclusive 3");
}

}  // namespace
}  // namespace unhang::detect
