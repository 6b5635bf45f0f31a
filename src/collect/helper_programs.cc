// SPDX-License-Identifier: Apache-2.0
#include "collect/helper_programs.h"

#include <algorithm>

#include "collect/redaction.h"

namespace unhang::collect {
namespace {

// The first line with something in it, which is where programs say what is wrong.
std::string first_line(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return without_secrets_in_text(text.substr(begin, text.find_first_of("\r\n", begin) - begin));
}

bool sounds_like_no_permission(std::string_view text) {
  for (const std::string_view words :
       {"ermission denied", "ermission Denied", "not permitted", "orbidden", "nauthorized", "EPERM"}) {
    if (text.find(words) != std::string_view::npos) return true;
  }
  return false;
}

void note_end(const std::string& name, const os::ProgramReply& reply, SourceTally& tally) {
  if (reply.timed_out) {
    tally.no_answer(name + ": it was not done in its time and was ended");
  } else if (reply.signal != 0) {
    tally.note(name + ": it was killed by signal " + std::to_string(reply.signal));
  } else if (reply.exit_code != 0) {
    const std::string& said = reply.errors.empty() ? reply.output : reply.errors;
    const std::string line =
        name + ": " + first_line(said) + " (exit status " + std::to_string(reply.exit_code) + ")";
    if (sounds_like_no_permission(said)) {
      tally.not_allowed(line);
    } else {
      tally.note(line);
    }
  }
}

}  // namespace

bool is_installed(const HelperPrograms& programs, std::string_view name) {
  return !os::find_program(name, programs.path).empty();
}

os::ProgramReply run_helper(const HelperPrograms& programs, const HelperRun& run, SourceTally& tally) {
  const std::string& name = run.called.empty() ? run.words.front() : run.called;
  os::ProgramRequest request;
  request.words = run.words;
  request.words.front() = os::find_program(run.words.front(), programs.path);
  if (request.words.front().empty()) {
    tally.note(name + ": not installed");
    return {};
  }
  request.deadline = std::min(std::chrono::steady_clock::now() + run.limit, tally.real_deadline(kTimeToDie));
  request.max_output = run.max_output;
  request.wake_fd = programs.wake_fd;
  auto reply = os::run_program(request);
  if (!reply) {
    tally.note(reply.error().message);
    return {};
  }
  note_end(name, *reply, tally);
  return std::move(*reply);
}

bool run_and_keep(const HelperPrograms& programs, const HelperRun& run, std::string_view folder,
                  std::string_view name, CaptureNames& names, SourceTally& tally) {
  const std::size_t before = tally.kept();
  const os::ProgramReply reply = run_helper(programs, run, tally);
  if (!reply.output.empty()) {
    model::BundleFile facts;
    facts.captured_ns = tally.context().wall_ns();
    facts.path = names.next(folder, facts.captured_ns, name, "");
    facts.note = run.called;
    if (run.called.empty()) {
      for (const std::string& word : run.words) facts.note += (facts.note.empty() ? "" : " ") + word;
    }
    facts.cut = reply.cut || reply.timed_out;
    tally.keep(without_secrets_in_text(reply.output), std::move(facts));
  }
  return reply.well() && tally.kept() > before;
}

}  // namespace unhang::collect
