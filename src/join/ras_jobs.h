// SPDX-License-Identifier: Apache-2.0
//
// Many RAS answers to jobs and moments. Several jobs may answer behind one port, and several sockets may
// answer for one job: answers belong together when they know a communicator or a process in common.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ras.h"
#include "model/ras_view.h"

namespace unhang::join {

struct AskedAnswer {
  model::RasAnswer answer;
  std::uint32_t source = 0;             // the caller's number for where it came from
  std::optional<std::int64_t> time_ns;  // when it was asked; nullopt: not known
};

// The views of one job in the order of time.
using RasHistory = std::vector<model::RasView>;

// One history a job, the one with most processes first. Answers are of one moment when they are less than a
// second apart; without a time each answer is a moment of its own, in the order given. `now` says that all
// answers are of one moment, as those of one poll are: each history has one view then.
std::vector<RasHistory> unite_ras(std::vector<AskedAnswer> answers, bool one_moment = false);

}  // namespace unhang::join
