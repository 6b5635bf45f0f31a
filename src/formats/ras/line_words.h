// SPDX-License-Identifier: Apache-2.0
//
// One line of a text answer, read from left to right. Every function moves on only past what it took.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/ras.h"

namespace unhang::formats::ras {

class LineWords {
 public:
  explicit LineWords(std::string_view text) : x_rest(text) {}

  std::string_view rest() const { return x_rest; }
  bool at_end() const { return x_rest.empty(); }

  bool take(std::string_view literal);
  void skip_blanks();
  std::string_view word();  // up to a blank or the end; may be empty
  std::optional<std::int64_t> integer();
  std::optional<std::uint64_t> count();
  // "3,5,9": all of them, or nothing when something else stands among them.
  std::optional<std::vector<std::int32_t>> list();

 private:
  std::string_view x_rest;
};

// "GPU 0 (NVML 3) managed by process 24737 on node 127.0.1.1". False, and `rank` as it was, for anything
// else.
bool read_place(LineWords& words, model::RasRank& rank);

// "Process 1936 on node 127.0.1.2 managing GPUs 0,1 (NVML 2,3)"; `words` stands behind it afterwards.
bool read_process(LineWords& words, model::RasProcess& process);

// "RUNNING"; the words of later releases: nullopt.
std::optional<model::RasStatus> status_of(std::string_view word);
std::optional<model::RasCollective> collective_of(std::string_view word);
// "Remote process error"; other texts: kOther.
model::NcclResult result_of(std::string_view text);
// "INCOMPLETE,ERROR"; false when a word is not known. Sets what it knows in any case.
bool read_error_words(std::string_view words, bool& incomplete, bool& error, bool& mismatch);

}  // namespace unhang::formats::ras
