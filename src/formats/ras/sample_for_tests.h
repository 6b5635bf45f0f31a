// SPDX-License-Identifier: Apache-2.0
//
// Answers written for a test, and what tests look at in what was read.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "formats/catalogue.h"

namespace unhang::formats::ras {

inline constexpr const char* kRow8Mismatch =
    "    0         1         2         4         8         8   RUNNING  MISMATCH\n";

// A text answer with these rows of the table and these blocks.
inline std::string report(const std::string& rows, const std::string& errors, const std::string& warnings,
                          const std::string& version = "2.30.7") {
  return "NCCL version " + version + " compiled with CUDA 12.8\n" +
         "CUDA runtime version 12080, driver version 12090\n\n"
         "Job summary\n===========\n\n"
         "  Nodes  Processes         GPUs  Processes     GPUs\n"
         "(total)   per node  per process    (total)  (total)\n"
         "      2          4            1          8        8\n\n"
         "Communicators... (0.25s)\n=============\n\n"
         "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
         "    #  in group  per comm  per node  per comm  in group\n" +
         rows + "\nErrors\n======\n\n" + errors + "Warnings\n========\n\n" + warnings;
}

// Throws, which fails a test, unless there is just one.
inline model::RasAnswer one_answer(const std::string& text) {
  Evidence evidence = read_evidence("x", text);
  if (evidence.ras_answers.size() != 1) throw std::runtime_error("not one answer");
  return std::move(evidence.ras_answers[0]);
}

inline model::RasCommunicator one_communicator(const std::string& text) {
  model::RasAnswer answer = one_answer(text);
  if (answer.communicators.size() != 1) throw std::runtime_error("not one communicator");
  return std::move(answer.communicators[0]);
}

// "truncated unknown_lines": in the order of the list.
inline std::string problem_codes(const Evidence& evidence) {
  std::string out;
  for (const model::ImportProblem& problem : evidence.problems) {
    out += (out.empty() ? "" : " ") + problem.code;
  }
  return out;
}

// "100 100 99 -": the counts of a collective over the ranks that are listed.
inline std::string counts(const model::RasCommunicator& communicator, model::RasCollective collective) {
  std::string out;
  for (const model::RasRank& rank : communicator.ranks) {
    const auto& count = rank.counts[static_cast<std::size_t>(collective)];
    out += (out.empty() ? "" : " ") + (count ? std::to_string(*count) : "-");
  }
  return out;
}

inline std::string statuses(const model::RasCommunicator& communicator) {
  std::string out;
  for (const model::RasRank& rank : communicator.ranks) {
    out += (out.empty() ? "" : " ") + std::string(name_of(rank.status));
  }
  return out;
}

inline std::string recorded(const std::string& name) {
  std::ifstream in(std::filesystem::path(UNHANG_SOURCE_DIR) / "tests/corpus/ras_recorded" / name,
                   std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), {}};
  if (out.empty()) throw std::runtime_error("no recorded answer " + name);
  return out;
}

}  // namespace unhang::formats::ras
