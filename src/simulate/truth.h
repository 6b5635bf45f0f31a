// SPDX-License-Identifier: Apache-2.0
//
// What is true of simulated evidence: what a diagnosis may say of it, and whom it may name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/happening.h"
#include "simulate/plan.h"

namespace unhang::simulate {

// A category that is right, with the causes that are right in it; none given: any.
struct Acceptable {
  std::string category;
  std::vector<std::string> causes;
};

struct Truth {
  Plan plan;
  std::string scenario;     // the fault's name
  std::string description;  // what happens to whom
  std::string group;        // name of the group where it shows; empty: none
  std::string operation;    // that the group is stuck in; empty: none
  std::vector<Acceptable> acceptable;
  std::vector<std::int32_t> culprits;  // ascending
  bool culprits_exact = true;          // false: the evidence allows to name any of them, and nobody else
  bool may_be_inconclusive = false;
  std::vector<std::int32_t> injected;      // ranks whose behaviour was changed, ascending
  std::vector<std::int32_t> without_dump;  // ranks that leave none, because of what happened; ascending

  // Of incidents with more evidence than dumps.
  std::vector<Happening> happenings;
  std::vector<std::int32_t> culprit_hosts;  // by number, ascending: where the trouble is
  bool host_suffices = false;  // the culprit is a machine or its link: naming it is as exact as naming ranks
  bool complete = true;        // no piece of the evidence that was asked for is lost
  std::vector<std::string> lost;  // files that are not there, although a whole collection would have them
};

// truth.json: the form of the recorded scenarios, with the plan beside.
std::string to_json(const Truth& truth);

}  // namespace unhang::simulate
