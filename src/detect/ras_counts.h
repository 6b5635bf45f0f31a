// SPDX-License-Identifier: Apache-2.0
//
// How the counts of a communicator and their differences are put into sentences.
#pragma once

#include <cstdint>
#include <string>

#include "detect/ras_analysis.h"

namespace unhang::detect {

// "AllReduce"; "collectives" where the release has one count for all of them.
std::string counted(model::RasCollective collective);

// "launched 99 AllReduce, the majority 100": what sets this rank apart.
std::string count_of(const RasCommunicatorState& state, std::int32_t rank);

// "AllReduce: majority at 100, rank 5 from 99": each collective whose counts differ.
std::string counts_text(const RasCommunicatorState& state);

// "AllGather and AllReduce": those in which somebody is behind.
std::string collectives_text(const RasCommunicatorState& state);

// ": the majority launched 100, they launched 99", where only one collective differs: with several each rank
// has its own numbers, and it is empty.
std::string numbers_text(const RasCommunicatorState& state, std::size_t ranks);

// Ranks ahead of the majority that a text answer only counts.
std::size_t most_unnamed_leaders(const RasCommunicatorState& state);

}  // namespace unhang::detect
