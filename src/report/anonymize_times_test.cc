// SPDX-License-Identifier: Apache-2.0
//
// Clocks and times name hosts, too.
#include <string>

#include <gtest/gtest.h>

#include "report/anonymize.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/terminal.h"

namespace unhang::report {
namespace {

TEST(AnonymizeTimes, NoHostIsLeft) {
  model::Case evidence;
  evidence.inputs.push_back({"rank0.log", "log", {}});
  evidence.ranks.emplace_back().host = "gpu-b07";
  evidence.clocks.push_back({.host = "gpu-b07",
                             .offset_ns = 5,
                             .spread_ns = 7,
                             .samples = 3,
                             .known = true,
                             .basis = "3 collectives that complete together with gpu-a01"});
  evidence.time_assumptions.push_back({0, "no zone: +02:00, from what gpu-b07 says"});
  model::Verdict verdict;
  verdict.clocks = {{"gpu-b07", 5, 7, evidence.clocks[0].basis}, {"gpu-a01", 0, 0, "the reference"}};
  verdict.times.stalled_since = "2026-11-29T17:00:10.000000000Z";
  verdict.times.stalled_basis = "rank 3 on gpu-b07 called what does not end";
  verdict.timeline = {{verdict.times.stalled_since, "log", "gpu-b07", "gpu-a01 went away", {}, true}};
  base::AnonymousNames names("k");
  anonymize(evidence, &verdict, names);
  EXPECT_EQ(evidence.clocks[0].host, base::pseudonym(base::NameKind::kHost, "k", "gpu-b07"));
  for (const std::string& text :
       {render_json(verdict, evidence.inputs, evidence.set_aside),
        render_markdown(verdict, {.full_stacks = true, .evidence = &evidence}),
        render_terminal(verdict,
                        {.width = 200, .verbosity = 2, .full_stacks = true, .evidence = &evidence})}) {
    for (const char* name : {"gpu-b07", "gpu-a01"})
      EXPECT_EQ(text.find(name), std::string::npos) << name << " in " << text;
    EXPECT_NE(text.find("17:00:10"), std::string::npos);
  }
}

}  // namespace
}  // namespace unhang::report
