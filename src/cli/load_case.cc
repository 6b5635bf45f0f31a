// SPDX-License-Identifier: Apache-2.0
#include "cli/load_case.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "base/parallel.h"
#include "cli/progress_bar.h"
#include "cli/side_documents.h"
#include "collect/bundle_check.h"
#include "formats/catalogue.h"
#include "formats/evidence_stream.h"
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

// What one file gives, in the order of the paths of its members, as the files of a folder come: how an
// archive was packed tells nothing. Two members of one path stay as stored.
class FileEvidence {
 public:
  void add(formats::Evidence evidence) { x_list.push_back(std::move(evidence)); }
  void add(os::ReadTrouble trouble) { x_troubles.push_back(trouble_as_evidence(std::move(trouble))); }

  std::vector<formats::Evidence> take() {
    join_troubles();
    std::stable_sort(x_list.begin(), x_list.end(),
                     [](const formats::Evidence& a, const formats::Evidence& b) { return a.path < b.path; });
    return std::move(x_list);
  }

 private:
  // A cut file gives both what came out of it and the trouble: these become one.
  void join_troubles() {
    std::unordered_map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < x_list.size(); ++i) at.emplace(x_list[i].path, i);
    for (formats::Evidence& lost : x_troubles) {
      const auto [same, is_new] = at.emplace(lost.path, x_list.size());
      if (is_new) {
        x_list.push_back(std::move(lost));
      } else {
        auto& problems = x_list[same->second].problems;
        problems.insert(problems.end(), lost.problems.begin(), lost.problems.end());
      }
    }
  }

  std::vector<formats::Evidence> x_list, x_troubles;
};

class StreamToEvidence final : public os::BlobStream {
 public:
  StreamToEvidence(std::unique_ptr<formats::EvidenceStream> stream, FileEvidence& file)
      : x_stream(std::move(stream)), x_file(file) {}
  void feed(std::string_view bytes) override { x_stream->feed(bytes); }
  void finish() override { x_file.add(x_stream->finish()); }

 private:
  std::unique_ptr<formats::EvidenceStream> x_stream;
  FileEvidence& x_file;
};

// A README or a JSON document beside the evidence may quote lines of logs: it is none, unless somebody named
// it.
formats::Evidence read_blob(const std::vector<std::string>& named, const std::string& name,
                            std::string_view bytes) {
  formats::Evidence evidence = formats::read_evidence(name, bytes);
  if (evidence.kind != "log" || std::find(named.begin(), named.end(), name) != named.end()) return evidence;
  const auto reason = why_no_log(name, bytes.substr(0, formats::kSniffBytes));
  if (!reason) return evidence;
  formats::Evidence passed_over;
  passed_over.path = std::move(evidence.path);
  passed_over.kind = "unknown";
  passed_over.problems.push_back({.severity = model::Severity::kInfo,
                                  .code = "passed_over",
                                  .text = std::string(*reason),
                                  .offset = {},
                                  .bytes_lost = 0});
  return passed_over;
}

// `threads`: of this file alone. `named`: the arguments.
std::vector<formats::Evidence> read_file(const std::string& path, const std::vector<std::string>& named,
                                         std::string& scratch, unsigned threads,
                                         std::atomic<std::uint64_t>& bytes_read) {
  FileEvidence file;
  const os::ReadHooks hooks{.ask_for_stream = [&](const std::string& name,
                                                  std::string_view first) -> std::unique_ptr<os::BlobStream> {
                              auto stream = formats::stream_evidence(name, first, threads);
                              if (!stream) return nullptr;
                              return std::make_unique<StreamToEvidence>(std::move(stream), file);
                            },
                            .bytes_read = &bytes_read};
  os::read_evidence(
      path, {}, scratch,
      [&](const std::string& name, std::string_view bytes) { file.add(read_blob(named, name, bytes)); },
      [&](os::ReadTrouble trouble) { file.add(std::move(trouble)); }, hooks);
  return file.take();
}

// Of all of them; 0 where it cannot be known.
std::uint64_t bytes_of(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (file == "-") return 0;
    if (!error) sum += size;
  }
  return sum;
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

// A text of unknown content is evidence only where somebody named it: then the answer is that none of its
// lines is known, and not that there is nothing.
void judge_unknown_text(const std::vector<std::string>& named, formats::Evidence& evidence) {
  if (evidence.kind != "unknown" || evidence.logs.empty()) return;
  if (std::find(named.begin(), named.end(), evidence.path) == named.end()) {
    evidence.logs.clear();
    return;
  }
  evidence.kind = "log";
  for (model::ImportProblem& problem : evidence.problems) {
    if (problem.code == "not_recognised") problem.text = "none of its lines is known to unhang";
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
                                      "(nccl_trace_rank_*), logs of the job or of the kernel, RAS answers "
                                      "or a bundle."};
}

}  // namespace

std::vector<Flag> load_flags(LoadOptions& options) {
  std::vector<Flag> flags{{.name = "--threads",
                           .short_name = "-j",
                           .value = "N",
                           .help = "threads to read with (0: one for each processor)",
                           .target = &options.threads,
                           .maximum = 1024},
                          {.name = "--instance",
                           .value = "ID",
                           .help = "of bundles of several model instances, only this one's",
                           .target = &options.instance},
                          {.name = "--world-size",
                           .value = "N",
                           .help = "ranks that the job should have, when the dumps don't say",
                           .target = &options.world_size,
                           .minimum = 1,
                           .maximum = 1 << 22}};
  for (Flag& flag : log_time_flags(options.log_times)) flags.push_back(std::move(flag));
  return flags;
}

Positional evidence_paths() {
  return {.placeholder = "PATH…",
          .help = "folders, files, archives (tar, zip, gz, zst) or - for standard input",
          .minimum = 1,
          .is_path = true};
}

base::Result<model::Case> load_case(const std::vector<std::string>& paths, const LoadOptions& options) {
  const auto log_times = values_of(options.log_times);
  if (!log_times) return base::fail(log_times.error());
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
  std::optional<ProgressBar> progress(std::in_place, options.complaints, bytes_of(expanded->files));
  for (std::size_t from = 0; from < expanded->files.size(); from += threads * kFilesPerThread) {
    const std::size_t count = std::min(threads * kFilesPerThread, expanded->files.size() - from);
    std::vector<std::vector<formats::Evidence>> read(count);
    // Threads that have no file of their own help with one that is long.
    const unsigned for_each = std::max(
        1u, base::thread_count(options.threads, SIZE_MAX) / base::thread_count(options.threads, count));
    base::parallel_for(count, options.threads, [&](std::size_t i, unsigned worker) {
      read[i] =
          read_file(expanded->files[from + i], paths, scratch[worker], for_each, progress->bytes_read());
    });
    std::vector<formats::Evidence> batch;
    for (auto& file : read) {
      for (auto& evidence : file) {
        check_bundle(evidence);
        judge_unknown_text(paths, evidence);
        any_evidence = any_evidence || !evidence.dumps.empty() || !evidence.ras_answers.empty() ||
                       !evidence.ras_events.empty() || !evidence.engine_samples.empty() ||
                       !evidence.bundles.empty() || !evidence.logs.empty() ||
                       !evidence.process_samples.empty();
        batch.push_back(std::move(evidence));
      }
    }
    builder.add(std::move(batch));
  }
  progress.reset();
  std::vector<formats::Evidence> notes;
  add_notes(expanded->notes, notes);
  builder.add(std::move(notes));
  join::Hints hints;
  if (options.world_size) hints.world_size = static_cast<std::int32_t>(*options.world_size);
  if (!options.instance.empty()) hints.instance = options.instance;
  hints.logs = {.year = log_times->year, .zone_ns = log_times->zone_ns};
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
