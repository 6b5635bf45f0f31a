// SPDX-License-Identifier: Apache-2.0
//
// Joins what the formats read into one Case: which dump is which rank, which dumps belong to the job, which
// groups there are, how far each rank came in each. Evidence of other jobs and runs is set aside and named.
//
// The result depends only on the evidence: callers give inputs sorted by path, and the number of threads does
// not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/evidence.h"
#include "join/bundle_facts.h"
#include "join/joined_dump.h"
#include "join/logs.h"
#include "join/ras_jobs.h"
#include "model/case.h"

namespace unhang::join {

struct Hints {
  std::optional<std::int32_t> world_size;  // ranks 0..n-1 are expected, whatever the dumps say
  LogHints logs = {};
  std::optional<std::string> instance = {};  // of several in bundles; absent: the one with most files
};

class CaseBuilder {
 public:
  explicit CaseBuilder(unsigned threads) : x_threads(threads) {}

  // Takes a batch of files, in the order of their paths. Cheap to call often: each dump's own vocabulary is
  // freed.
  void add(std::vector<formats::Evidence> batch);

  // Ends the joining. The builder must not be used afterwards.
  model::Case finish(const Hints& hints);

 private:
  void apply_facts();
  void set_aside_other_instances(const Hints& hints);
  void set_aside_other_logs();
  void forget(model::InputIndex input, const std::string& reason);
  void doubt_hosts_of_names();
  void name_log_hosts();
  std::optional<std::int32_t> known_world() const;

  unsigned x_threads;
  model::Case x_case;
  std::vector<JoinedDump> x_dumps;
  std::vector<AskedAnswer> x_ras_answers;
  std::vector<model::RasEvidence::Event> x_ras_events;
  std::vector<model::ProcessReading> x_processes;
  LogJoin x_logs;
  BundleFacts x_facts;
};

}  // namespace unhang::join
