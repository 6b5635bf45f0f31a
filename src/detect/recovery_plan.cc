// SPDX-License-Identifier: Apache-2.0
#include "detect/recovery_plan.h"

#include "detect/cause_checks.h"
#include "detect/evidence_first.h"
#include "detect/node_isolation.h"
#include "detect/rebuild_step.h"
#include "detect/recovery_environment.h"
#include "detect/recovery_level.h"
#include "detect/retest_list.h"
#include "detect/time_limit.h"
#include "detect/workaround.h"

namespace unhang::detect {
namespace {

using model::State;

// One look that shows no movement proves none: before anything else somebody looks again.
bool look_again_first(const model::Verdict& verdict) {
  return verdict.state == State::kUnknown && verdict.confidence == model::Confidence::kLow;
}

// Where nothing moves a longer limit only hides it for longer.
void add_time_limit(const Analysis& analysis, const model::Verdict& verdict,
                    std::vector<model::RecoveryStep>& out) {
  if (verdict.state != State::kSlow && verdict.state != State::kAdvancing) return;
  if (auto step = timeout_advice(analysis)) out.push_back(std::move(*step));
}

}  // namespace

model::Recovery plan_recovery(const Analysis& analysis, const model::Verdict& verdict,
                              const std::string& culprits) {
  const model::Case& joined = analysis.joined;
  const JobContact job = contact_of(joined);
  const RecoveryEnvironment environment = find_environment(joined);
  const NodeIsolation isolation = judge_isolation(verdict);
  model::Recovery out;
  out.level = recovery_level(verdict, isolation);
  out.environment = name_of(environment.kind);
  if (verdict.category == model::Category::kHealthy) {
    if (verdict.state == State::kUnknown && covers(verdict, "nccl_ras"))
      add_next_look(verdict, job, out.steps);
    return out;
  }
  if (look_again_first(verdict)) add_next_look(verdict, job, out.steps);
  add_evidence_step(joined, verdict, environment, out.steps);
  add_cause_checks(verdict, culprits, job, out.steps);
  add_time_limit(analysis, verdict, out.steps);
  if (out.level == model::RecoveryLevel::kNone) return out;
  if (verdict.cause == "process_stopped")
    out.steps.push_back(
        {"let it go on, where nobody means it to stand", with_pid("kill -CONT PID", verdict), true});
  add_isolation_step(joined, verdict, environment, isolation, out.steps);
  model::RecoveryStep rebuild = rebuild_step(environment);
  if (!out.steps.empty()) rebuild.why = "then " + rebuild.why;
  out.steps.push_back(std::move(rebuild));
  add_workaround(verdict, out.steps);
  out.retest = retest_list(verdict);
  add_retest_step(verdict, environment, out.retest, out.steps);
  return out;
}

}  // namespace unhang::detect
