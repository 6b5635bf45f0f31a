// SPDX-License-Identifier: Apache-2.0
//
// What a verdict is worth beside the truth of the incident it was given for. tests/corpus/judge.py says the
// same of incidents in folders; both follow docs/simulate.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/verdict.h"
#include "simulate/truth.h"

namespace unhang::simulate {

enum class Answer : std::uint8_t {
  kRight,       // the first acceptable answer
  kAcceptable,  // another one
  kHonest,  // says that it does not know, or says something else with low confidence, and blames no innocent
  kWrong,   // with low confidence
  kConfidentlyWrong,
};
constexpr std::size_t kAnswers = 5;
std::string_view name_of(Answer value);

enum class Naming : std::uint8_t {
  kExact,  // those at fault and nobody else
  kPart,   // some of those at fault, nobody else
  kNobody,
  kInnocent,  // somebody who did nothing
};

struct Judgement {
  Answer answer = Answer::kWrong;
  Naming naming = Naming::kNobody;
  bool confident_innocent = false;  // an innocent is blamed with more than low confidence
};

Judgement judge(const Truth& truth, const model::Verdict& verdict);

}  // namespace unhang::simulate
