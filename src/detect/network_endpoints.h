// SPDX-License-Identifier: Apache-2.0
//
// Who stands at the ends of network errors. One log shows "my transfer to 10.0.0.9 failed" and can blame
// either end; all logs together are a graph of hosts with an edge for each pair that failed, and its shape
// tells: one host at nearly every edge, one pair alone, everything across one cut (a leaf switch, an uplink),
// or all over the fabric. Edges count, not lines: a pair that complains a thousand times is one.
#pragma once

#include <string>
#include <vector>

#include "detect/log_analysis.h"

namespace unhang::detect {

enum class EndpointShape : std::uint8_t {
  kNone,    // no error names both its ends, or no name is known
  kHost,    // one host is at an end of nearly all
  kPair,    // all of them between two hosts: either end, or what lies between
  kSides,   // all of them between two sets of hosts, none inside: what joins the two
  kSpread,  // no end is common
};

struct NetworkEndpoints {
  EndpointShape shape = EndpointShape::kNone;
  // kHost: one. kPair: the one that is complained of, then the one that complains. kSides: one side.
  std::vector<std::string> hosts;
  std::vector<std::string> others;  // kSides: the other side
  std::string adapter;      // kHost: the one adapter of it that complains; empty: several, or not known
  std::size_t edges = 0;    // pairs with errors
  std::size_t at_host = 0;  // kHost: of them
  // kHost: others complain of it, from so many hosts that it is no accident whose logs are here.
  bool witnessed = false;
  std::string why;  // with the counts, for people
};

// Addresses are taken for hosts as far as Case::hosts or NCCL's own lines ("Bootstrap : Using eth0:10.0.0.7")
// tell whose they are. Linear in the events, and in the square of the hosts of one side at most.
NetworkEndpoints judge_endpoints(const LogAnalysis& logs, const EventRefs& events);

// Names the host as a culprit where it is witnessed, else as a suspect; a pair as two suspects, never one.
void name_endpoints(const NetworkEndpoints& ends, Explanation& found);

// " of node1 towards node9": who reports and whom, by name.
std::string between_text(const LogAnalysis& logs, const EventRefs& events);

}  // namespace unhang::detect
