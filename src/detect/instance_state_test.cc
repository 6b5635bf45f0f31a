// SPDX-License-Identifier: Apache-2.0
#include "detect/instance_state.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::State;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBegin = 1'796'000'000 * kSecond;

// One instance, asked every two seconds; the judgement of the engine is set by hand.
struct Rounds {
  InstanceTracker tracker{"chat", EngineWindows{}};
  std::vector<EngineReading> engines;
  std::optional<RasSignal> ras;
  std::int64_t now = kBegin;
  std::int64_t engine_moved = kBegin;
  model::InstanceState last;

  EngineReading& engine() {
    if (engines.empty()) {
      engines.resize(1);
      engines[0].kind = model::EngineKind::kVllm;
      engines[0].ever_answered = true;
      engines[0].judgement.usable = true;
    }
    return engines[0];
  }
  void set(EngineMovement movement) {
    EngineJudgement& judgement = engine().judgement;
    judgement.usable = true;
    judgement.movement = movement;
    judgement.moved_now = movement == EngineMovement::kAdvancing;
    judgement.running = movement == EngineMovement::kIdle ? 0 : 4;
    if (judgement.moved_now) {
      engine_moved = now + 2 * kSecond;
      judgement.last_moved_ns = engine_moved;
      judgement.quiet_readings = 0;
    } else {
      ++judgement.quiet_readings;
    }
    judgement.silent_since_ns = engine_moved;
  }
  RasSignal& answer(RasMovement movement) {
    if (!ras) ras.emplace();
    ras->usable = true;
    ras->movement = movement;
    if (movement == RasMovement::kAdvancing) {
      ras->last_moved_ns = now + 2 * kSecond;
      ras->lag_since_ns.reset();
      ras->lags.clear();
    }
    if (movement == RasMovement::kLagging && !ras->lag_since_ns) {
      ras->lag_since_ns = now;
      ras->lags = "rank 3 of b79ec9689dde9dc4 (8)";
    }
    return *ras;
  }
  State round() {
    now += 2 * kSecond;
    last = tracker.update(engines, ras, now);
    return last.state;
  }
};

bool mentions(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(InstanceState, TheEngineAloneIsEnough) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  EXPECT_EQ(rounds.round(), State::kAdvancing);
  EXPECT_EQ(rounds.last.moved_last, "engine");
  const std::int64_t moved = *rounds.last.last_moved_ns;
  rounds.set(EngineMovement::kStopped);
  EXPECT_EQ(rounds.round(), State::kStopped);
  EXPECT_EQ(rounds.last.since_ns, moved) << "stopped since something moved last";
}

TEST(InstanceState, HealthThatAnswersWhileStoppedIsAFinding) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.engine().health = 200;
  rounds.round();
  EXPECT_TRUE(rounds.last.findings.empty());
  rounds.set(EngineMovement::kStopped);
  rounds.round();
  EXPECT_TRUE(mentions(rounds.last.findings, "answers 200 all the while"));
}

TEST(InstanceState, TwoSignalsThatAgreeAreFast) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  rounds.set(EngineMovement::kQuiet);
  rounds.answer(RasMovement::kLagging);
  EXPECT_EQ(rounds.round(), State::kAdvancing) << "one reading without movement is not enough";
  rounds.set(EngineMovement::kQuiet);
  rounds.answer(RasMovement::kLagging);
  EXPECT_EQ(rounds.round(), State::kStopped);
  EXPECT_EQ(rounds.last.lags, "rank 3 of b79ec9689dde9dc4 (8)");
}

TEST(InstanceState, EqualCountsThatStandProveNothing) {
  Rounds rounds;
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  for (int i = 0; i < 100; ++i) {
    rounds.answer(RasMovement::kStanding);
    EXPECT_EQ(rounds.round(), State::kUnknown);
  }
  EXPECT_NE(rounds.last.why.find("second signal"), std::string::npos);
}

TEST(InstanceState, EqualCountsDoNotHurryASilentEngine) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  for (int i = 0; i < 10; ++i) {
    rounds.set(EngineMovement::kQuiet);
    rounds.answer(RasMovement::kStanding);
    EXPECT_NE(rounds.round(), State::kStopped) << "a long prompt looks the same";
  }
}

TEST(InstanceState, LaggardsAloneStopWithAHistory) {
  Rounds rounds;
  for (int i = 0; i < 3; ++i) {
    rounds.answer(RasMovement::kAdvancing);
    EXPECT_EQ(rounds.round(), State::kAdvancing);
  }
  rounds.answer(RasMovement::kLagging);
  EXPECT_NE(rounds.round(), State::kStopped);
  rounds.answer(RasMovement::kLagging);
  EXPECT_EQ(rounds.round(), State::kStopped);
  EXPECT_EQ(rounds.last.moved_last, "ras");
}

TEST(InstanceState, LaggardsWithoutHistoryNeedTenSeconds) {
  Rounds rounds;
  int needed = 0;
  do {
    rounds.answer(RasMovement::kLagging);
    ++needed;
  } while (rounds.round() != State::kStopped && needed < 50);
  EXPECT_EQ(needed, 5);
}

TEST(InstanceState, CountsThatStandWhileTokensMoveAreBlind) {
  Rounds rounds;
  for (int i = 0; i < 5; ++i) {
    rounds.set(EngineMovement::kAdvancing);
    rounds.answer(RasMovement::kLagging);
    EXPECT_EQ(rounds.round(), State::kAdvancing);
  }
  ASSERT_EQ(rounds.last.signals.size(), 2u);
  EXPECT_TRUE(rounds.last.signals[0].usable);
  EXPECT_FALSE(rounds.last.signals[1].usable);
  EXPECT_NE(rounds.last.signals[1].why_not.find("CUDA graphs"), std::string::npos);
  // What is blind does not speed anything up.
  for (int i = 0; i < 5; ++i) {
    rounds.set(EngineMovement::kQuiet);
    EXPECT_NE(rounds.round(), State::kStopped);
  }
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  EXPECT_TRUE(rounds.last.signals[1].usable) << "a count that moves is believed again";
}

TEST(InstanceState, BlindCountsWithoutAnEngineAreUnknown) {
  Rounds rounds;
  for (int i = 0; i < 5; ++i) {
    rounds.set(EngineMovement::kAdvancing);
    rounds.answer(RasMovement::kStanding);
    rounds.round();
  }
  rounds.engine().judgement = {};
  rounds.engine().judgement.why_not = "did not answer: connection refused";
  rounds.answer(RasMovement::kLagging);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rounds.round(), State::kUnknown);
}

TEST(InstanceState, CollectivesWithoutTokensAreSlow) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  rounds.set(EngineMovement::kStopped);
  rounds.answer(RasMovement::kAdvancing);
  EXPECT_EQ(rounds.round(), State::kSlow);
}

TEST(InstanceState, IdleIsIdleAndAStartIsAStart) {
  Rounds rounds;
  rounds.set(EngineMovement::kIdle);
  rounds.answer(RasMovement::kStanding);
  EXPECT_EQ(rounds.round(), State::kIdle);
  rounds.set(EngineMovement::kStarting);
  EXPECT_EQ(rounds.round(), State::kStarting);
}

TEST(InstanceState, ARankThatLagsWhileTheEngineClaimsToBeIdleIsUnknown) {
  Rounds rounds;
  rounds.set(EngineMovement::kIdle);
  rounds.answer(RasMovement::kLagging);
  rounds.round();
  rounds.answer(RasMovement::kLagging);
  EXPECT_EQ(rounds.round(), State::kUnknown);
  EXPECT_EQ(rounds.last.lags, "rank 3 of b79ec9689dde9dc4 (8)");
  // A framework whose ranks wait for work in a collective goes on from there: then it is its way of idling.
  rounds.set(EngineMovement::kAdvancing);
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  rounds.set(EngineMovement::kIdle);
  rounds.answer(RasMovement::kLagging);
  rounds.round();
  EXPECT_EQ(rounds.round(), State::kIdle);
}

TEST(InstanceState, DeadProcessesAreDead) {
  Rounds rounds;
  rounds.answer(RasMovement::kStanding).lost = "rank 2 of b79ec9689dde9dc4 (8)";
  EXPECT_EQ(rounds.round(), State::kDead);
  rounds.set(EngineMovement::kAdvancing);
  EXPECT_EQ(rounds.round(), State::kAdvancing) << "it makes tokens: that process belonged to something else";
  EXPECT_TRUE(mentions(rounds.last.findings, "yet tokens are made"));
}

TEST(InstanceState, VllmsOwnWordThatItDiedCounts) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.engine().health = 200;
  rounds.round();
  rounds.set(EngineMovement::kQuiet);
  rounds.engine().health = 503;
  EXPECT_EQ(rounds.round(), State::kDead);
  Rounds sglang;
  sglang.engine().kind = model::EngineKind::kSglang;
  sglang.set(EngineMovement::kIdle);
  sglang.engine().health = 503;
  EXPECT_EQ(sglang.round(), State::kIdle);
  EXPECT_TRUE(mentions(sglang.last.findings, "answers 503"));
}

TEST(InstanceState, StoppedStaysUntilSomethingMovesTwice) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.answer(RasMovement::kAdvancing);
  rounds.round();
  for (int i = 0; i < 3; ++i) {
    rounds.set(EngineMovement::kQuiet);
    rounds.answer(RasMovement::kLagging);
    rounds.round();
  }
  ASSERT_EQ(rounds.last.state, State::kStopped);
  const std::int64_t since = rounds.last.since_ns;
  rounds.ras.reset();  // an answer that is missing is no movement
  rounds.set(EngineMovement::kQuiet);
  EXPECT_EQ(rounds.round(), State::kStopped);
  EXPECT_EQ(rounds.last.since_ns, since);
  rounds.set(EngineMovement::kAdvancing);
  EXPECT_EQ(rounds.round(), State::kStopped);
  rounds.set(EngineMovement::kAdvancing);
  EXPECT_EQ(rounds.round(), State::kAdvancing);
}

TEST(InstanceState, WithoutAnyAnswerItIsUnknown) {
  Rounds rounds;
  rounds.set(EngineMovement::kStopped);
  EXPECT_EQ(rounds.round(), State::kStopped);
  rounds.engine().judgement = {};
  EXPECT_EQ(rounds.round(), State::kStopped);
  EXPECT_EQ(rounds.round(), State::kUnknown);
}

TEST(InstanceState, AnEngineThatDoesNotListenYetStartsWhereRasAnswers) {
  Rounds rounds;
  rounds.engine().ever_answered = false;
  rounds.engine().judgement = {};
  EXPECT_EQ(rounds.round(), State::kUnknown);
  rounds.answer(RasMovement::kLagging);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(rounds.round(), State::kStarting);
  for (int i = 0; i < 300; ++i) rounds.round();
  EXPECT_EQ(rounds.last.state, State::kStopped) << "not for ever";
}

TEST(InstanceState, ARestartEndsAStall) {
  Rounds rounds;
  rounds.set(EngineMovement::kStopped);
  rounds.round();
  rounds.set(EngineMovement::kStarting);
  rounds.engine().judgement.restarts = 1;
  EXPECT_EQ(rounds.round(), State::kStarting);
  EXPECT_TRUE(mentions(rounds.last.findings, "began anew"));
}

TEST(InstanceState, TheWorstOfSeveralEnginesCounts) {
  Rounds rounds;
  rounds.set(EngineMovement::kAdvancing);
  rounds.engines.push_back(rounds.engines[0]);
  rounds.engines[1].name = "engine b";
  rounds.engines[1].judgement.movement = EngineMovement::kStopped;
  rounds.engines[1].judgement.moved_now = false;
  EXPECT_EQ(rounds.round(), State::kStopped);
}

TEST(InstanceState, ExitCodes) {
  const auto code = [](std::vector<State> states) {
    std::vector<model::InstanceState> instances(states.size());
    for (std::size_t i = 0; i < states.size(); ++i) instances[i].state = states[i];
    return model::exit_code(instances);
  };
  EXPECT_EQ(code({State::kAdvancing, State::kIdle, State::kStarting}), 0);
  EXPECT_EQ(code({State::kAdvancing, State::kSlow, State::kUnknown}), 1);
  EXPECT_EQ(code({State::kSlow, State::kStopped}), 2);
  EXPECT_EQ(code({State::kDead}), 2);
  EXPECT_EQ(code({State::kIdle, State::kUnknown}), 3);
  EXPECT_EQ(code({}), 3);
}

}  // namespace
}  // namespace unhang::detect
