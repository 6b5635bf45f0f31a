// SPDX-License-Identifier: Apache-2.0
#include "report/anonymize.h"

#include <gtest/gtest.h>

#include "report/json.h"
#include "report/markdown.h"
#include "report/terminal.h"

namespace unhang::report {
namespace {

std::string host(std::string_view name) {
  return base::pseudonym(base::NameKind::kHost, "k", name);
}

model::Verdict verdict_of_node3() {
  model::Verdict verdict;
  verdict.headline = "rank 3 on node3 did not enter";
  model::Subject& culprit = verdict.culprits.emplace_back();
  culprit.rank = 3;
  culprit.host = "node3";
  culprit.why = "node3 wrote nothing";
  verdict.blast_radius.hosts = {"node2", "node3"};
  model::EvidenceItem& item = verdict.evidence.emplace_back();
  item.file = "node3/dump.log";
  item.text = "lost 10.0.0.3";
  verdict.recovery.steps.push_back({"look", "ssh node3 dmesg", false});
  verdict.recovery.retest = {"node3/mlx5_2", "node2 and node7"};
  verdict.history.push_back({"node3/mlx5_2", 3, 14, "old/node3.json", "link_down"});
  verdict.times.gpu_hours_lost = 4.0;
  verdict.times.lost_basis = "8 GPUs since node3 stands";
  verdict.stacks.push_back({{3}, "culprit", {{"f", "/home/alice/train.py", 1, true}}});
  return verdict;
}

model::LogOrigin written_on(const std::string& name) {
  model::LogOrigin origin;
  origin.host = name;
  return origin;
}

model::Case case_of_node3() {
  model::Case evidence;
  model::Input& input = evidence.inputs.emplace_back();
  input.path = "node3/dump.log";
  input.problems.emplace_back().text = "node3 was cut";
  evidence.ranks.emplace_back().host = "node3";
  evidence.vocabulary.symbols.intern("/home/alice/train.py");
  evidence.logs.origins.push_back(written_on("node3"));
  model::LogEvent& event = evidence.logs.events.emplace_back();
  event.kind = model::LogEventKind::kConnectionClosed;
  event.peer = "tail<45678>";
  event.text = "closed by tail<45678>";
  evidence.logs.last_text = "the tail is gone";
  return evidence;
}

TEST(Anonymize, NoNameIsLeftInCaseAndVerdict) {
  model::Case evidence = case_of_node3();
  model::Verdict verdict = verdict_of_node3();
  base::AnonymousNames names("k");
  anonymize(evidence, &verdict, names);
  EXPECT_EQ(evidence.ranks[0].host, host("node3"));
  EXPECT_EQ(evidence.inputs[0].path, host("node3") + "/dump.log");
  EXPECT_EQ(evidence.logs.events[0].peer, host("tail") + "<45678>");
  EXPECT_EQ(evidence.logs.last_text, "the " + host("tail") + " is gone");
  EXPECT_EQ(verdict.headline, "rank 3 on " + host("node3") + " did not enter");
  EXPECT_EQ(verdict.blast_radius.hosts, (std::vector<std::string>{host("node2"), host("node3")}));
  EXPECT_EQ(verdict.recovery.steps[0].command, "ssh " + host("node3") + " dmesg");
  EXPECT_EQ(verdict.recovery.retest[0], host("node3") + "/mlx5_2");
  EXPECT_EQ(verdict.history[0].subject, host("node3") + "/mlx5_2");
  for (const std::string& text :
       {render_json(verdict, evidence.inputs, evidence.set_aside),
        render_markdown(verdict, {.full_stacks = true, .evidence = &evidence}),
        render_terminal(verdict,
                        {.width = 200, .verbosity = 2, .full_stacks = true, .evidence = &evidence})}) {
    for (const char* name : {"node2", "node3", "node7", "alice", "10.0.0.3", "tail"})
      EXPECT_EQ(text.find(name), std::string::npos) << name << " in " << text;
  }
}

TEST(Anonymize, SymbolsChangeAndIdsStay) {
  model::Case evidence = case_of_node3();
  const auto before = evidence.vocabulary.symbols.size();
  base::AnonymousNames names("k");
  anonymize(evidence, nullptr, names);
  EXPECT_EQ(evidence.vocabulary.symbols.size(), before);
  EXPECT_EQ(evidence.text(static_cast<model::SymbolId>(before - 1)),
            "/home/" + base::pseudonym(base::NameKind::kUser, "k", "alice") + "/train.py");
}

// Two that became one would be one operation, or one group.
TEST(Anonymize, SymbolsStayDifferent) {
  model::Case evidence;
  const auto one = evidence.vocabulary.symbols.intern("at 10.0.0.3"),
             same = evidence.vocabulary.symbols.intern("at ::ffff:10.0.0.3");
  base::AnonymousNames names("k");
  anonymize(evidence, nullptr, names);
  EXPECT_EQ(evidence.text(same), std::string(evidence.text(one)) + " (2)");
}

TEST(Anonymize, PodsAndInstancesOfBundles) {
  model::Case evidence;
  evidence.bundles.push_back({.host = "gpu-b07-412",
                              .instance = "llama-prod",
                              .labels = {{"mode", "decode"}, {"pod", "decode-7f9c"}},
                              .sources = {{.asked = "http://gpu-b07-412:8000/metrics"}}});
  evidence.inputs.push_back({"bundle/decode-7f9c.json", "", {}});
  base::AnonymousNames names("k");
  anonymize(evidence, nullptr, names);
  EXPECT_EQ(evidence.bundles[0].sources[0].asked, "http://" + host("gpu-b07-412") + ":8000/metrics");
  EXPECT_EQ(evidence.bundles[0].instance, base::pseudonym(base::NameKind::kName, "k", "llama-prod"));
  EXPECT_EQ(evidence.bundles[0].labels[0].second, "decode");
  EXPECT_EQ(evidence.bundles[0].labels[1].second, host("decode-7f9c"));
  EXPECT_EQ(evidence.inputs[0].path, "bundle/" + host("decode-7f9c") + ".json");
}

// Two commands that saw different parts of the evidence, in another order.
TEST(Anonymize, TheSameHostIsTheSameEverywhere) {
  model::Case one = case_of_node3(), two;
  two.logs.origins.push_back(written_on("other"));
  two.logs.origins.push_back(written_on("NODE3.cluster.example"));
  base::AnonymousNames first("k"), second("k");
  anonymize(one, nullptr, first);
  anonymize(two, nullptr, second);
  EXPECT_EQ(two.logs.origins[1].host.substr(0, 12), one.logs.origins[0].host);
}

}  // namespace
}  // namespace unhang::report
