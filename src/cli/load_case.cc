// SPDX-License-Identifier: Apache-2.0
#include "cli/load_case.h"

#include <algorithm>

#include "base/parallel.h"
#include "collect/bundle_check.h"
#include "formats/catalogue.h"
#include "join/join.h"
#include "os/evidence_reader.h"
#include "os/expand_paths.h"

namespace unhang::cli {
namespace {

// Files in flight at once: enough to keep the threads busy, few enough that their vocabularies stay small.
constexpr std::size_t kFilesPerThread = 32;

formats::Evidence trouble_as_evidence(os::ReadTrouble trouble) {
  formats::Evidence evidence;
  evidence.path = std::move(trouble.path);
  evidence.problems.push_back({.severity = model::Severity::kDataLoss,
                               .code = std::move(trouble.code),
                               .text = std::move(trouble.text),
                               .offset = {},
                               .bytes_lost = trouble.bytes_lost});
  return evidence;
}

std::vector<formats::Evidence> read_file(const std::string& path, std::string& scratch) {
  std::vector<formats::Evidence> out;
  os::read_evidence(
      path, {}, scratch,
      [&](const std::string& name, std::string_view bytes) {
        out.push_back(formats::read_evidence(name, bytes));
      },
      [&](os::ReadTrouble trouble) {
        // A cut compressed file gives both what came out of it and the trouble.
        const auto same = std::find_if(out.begin(), out.end(),
                                       [&](const auto& known) { return known.path == trouble.path; });
        formats::Evidence lost = trouble_as_evidence(std::move(trouble));
        if (same == out.end()) {
          out.push_back(std::move(lost));
        } else {
          same->problems.insert(same->problems.end(), lost.problems.begin(), lost.problems.end());
        }
      });
  return out;
}

void add_notes(const std::vector<os::PathNote>& notes, std::vector<formats::Evidence>& batch) {
  for (const os::PathNote& note : notes) {
    formats::Evidence evidence;
    evidence.path = note.path;
    evidence.problems.push_back({.severity = model::Severity::kInfo,
                                 .code = "passed_over",
                                 .text = note.text,
                                 .offset = {},
                                 .bytes_lost = 0});
    batch.push_back(std::move(evidence));
  }
}

// What has happened to a bundle since it was captured. Of one in an archive only what its manifest says is
// known.
void check_bundle(formats::Evidence& evidence) {
  const std::size_t slash = evidence.path.rfind('/');
  if (evidence.bundles.empty() || evidence.path == "-" || evidence.path.find('!') != std::string::npos)
    return;
  const auto faults =
      collect::verify_bundle(slash == std::string::npos ? "." : evidence.path.substr(0, slash));
  if (!faults) return;  // its own problems tell
  for (const collect::BundleFault& fault : *faults) {
    const bool lost = fault.code == "missing";
    if (fault.code == "not_listed") continue;  // notes of a person beside the evidence
    evidence.problems.push_back({.severity = lost ? model::Severity::kDataLoss : model::Severity::kError,
                                 .code = fault.code,
                                 .text = fault.path + ": " + fault.text,
                                 .offset = {},
                                 .bytes_lost = 0});
  }
}

base::Error nothing_readable(const model::Case& joined) {
  std::string message =
      "none of the " + std::to_string(joined.inputs.size()) + " inputs could be read as evidence";
  std::size_t shown = 0;
  for (const auto& input : joined.inputs) {
    if (input.problems.empty() || shown++ >= 3) continue;
    message += "\n  " + input.path + ": " + input.problems.front().text;
  }
  return {base::ErrorCode::kData, message +
                                      "\nGive the folder or files of Flight Recorder dumps "
                                      "(nccl_trace_rank_*), RAS answers or a bundle."};
}

}  // namespace

std::vector<Flag> load_flags(LoadOptions& options) {
  return {{.name = "--threads",
           .short_name = "-j",
           .value = "N",
           .help = "threads to read with (0: one for each processor)",
           .target = &options.threads,
           .maximum = 1024},
          {.name = "--world-size",
           .value = "N",
           .help = "ranks that the job should have, when the dumps don't say",
           .target = &options.world_size,
           .minimum = 1,
           .maximum = 1 << 22}};
}

Positional evidence_paths() {
  return {.placeholder = "PATH…",
          .help = "folders, files, archives (tar, zip, gz, zst) or - for standard input",
          .minimum = 1,
          .is_path = true};
}

base::Result<model::Case> load_case(const std::vector<std::string>& paths, const LoadOptions& options) {
  auto expanded = os::expand_paths(paths);
  if (!expanded) return base::fail(std::move(expanded.error()));
  for (const os::PathNote& note : expanded->notes) {
    const bool asked_for = std::find(paths.begin(), paths.end(), note.path) != paths.end();
    if (asked_for && options.complaints != nullptr)
      options.complaints->write("unhang: " + note.path + ": " + note.text + "\n");
  }
  join::CaseBuilder builder(options.threads);
  const std::size_t threads = base::thread_count(options.threads, expanded->files.size());
  std::vector<std::string> scratch(threads);
  bool any_evidence = false;
  for (std::size_t from = 0; from < expanded->files.size(); from += threads * kFilesPerThread) {
    const std::size_t count = std::min(threads * kFilesPerThread, expanded->files.size() - from);
    std::vector<std::vector<formats::Evidence>> read(count);
    base::parallel_for(count, options.threads, [&](std::size_t i, unsigned worker) {
      read[i] = read_file(expanded->files[from + i], scratch[worker]);
    });
    std::vector<formats::Evidence> batch;
    for (auto& file : read) {
      for (auto& evidence : file) {
        check_bundle(evidence);
        any_evidence = any_evidence || !evidence.dumps.empty() || !evidence.ras_answers.empty() ||
                       !evidence.ras_events.empty() || !evidence.engine_samples.empty() ||
                       !evidence.bundles.empty() || !evidence.logs.empty();
        batch.push_back(std::move(evidence));
      }
    }
    builder.add(std::move(batch));
  }
  std::vector<formats::Evidence> notes;
  add_notes(expanded->notes, notes);
  builder.add(std::move(notes));
  join::Hints hints;
  if (options.world_size) hints.world_size = static_cast<std::int32_t>(*options.world_size);
  model::Case joined = builder.finish(hints);
  if (!any_evidence) return base::fail(nothing_readable(joined));
  if (options.needs_dumps && !joined.has_dumps)
    return base::fail(
        base::ErrorCode::kData,
        "no usable Flight Recorder dump is among the inputs, and only those list single operations. "
        "`unhang diagnose` reads what is there.");
  return joined;
}

}  // namespace unhang::cli
