// SPDX-License-Identifier: Apache-2.0
#include "formats/catalogue.h"

#include <array>
#include <vector>

#include "formats/bundle/bundle_manifest.h"
#include "formats/capture_document/capture_document.h"
#include "formats/engine_metrics/engine_metrics.h"
#include "formats/flight_recorder/flight_recorder.h"
#include "formats/log/log.h"
#include "formats/nccl_tests/nccl_tests.h"
#include "formats/ras/ras.h"
#include "formats/stacks/embedded_stacks.h"
#include "formats/stacks/faulthandler.h"
#include "formats/stacks/native_backtrace.h"
#include "formats/stacks/process_state.h"
#include "formats/stacks/py_spy.h"
#include "formats/verdict_document/verdict_document.h"

namespace unhang::formats {
namespace {

constexpr std::array kFormats{
    Format{"flight_recorder_pickle", "PyTorch Flight Recorder dump (pickle)", "flight_recorder.md",
           flight_recorder::sniff_pickle, flight_recorder::parse_pickle},
    Format{"bundle_manifest", "manifest of a bundle that unhang captured", "bundle.md",
           bundle::sniff_manifest, bundle::parse_manifest},
    Format{"verdict_document", "verdict that unhang wrote", "verdict.md", verdict_document::sniff,
           verdict_document::parse},
    Format{"capture_document", "counters, sockets or limits that a capture kept", "capture_documents.md",
           capture_document::sniff, capture_document::parse},
    Format{"nccl_tests_json", "result of nccl-tests (JSON)", "nccl_tests.md", nccl_tests::sniff,
           nccl_tests::parse},
    Format{"flight_recorder_json", "PyTorch Flight Recorder dump (JSON)", "flight_recorder.md",
           flight_recorder::sniff_json, flight_recorder::parse_json},
    Format{"nccl_ras_json", "NCCL RAS answer (JSON)", "nccl_ras.md", ras::sniff_json, ras::parse_json},
    Format{"nccl_ras_events", "NCCL RAS events (MONITOR)", "nccl_ras.md", ras::sniff_events,
           ras::parse_events},
    Format{"nccl_ras_text", "NCCL RAS answer (text)", "nccl_ras.md", ras::sniff_text, ras::parse_text},
    Format{"engine_metrics", "metric page of an inference engine", "engine_metrics.md", engine_metrics::sniff,
           engine_metrics::parse},
    Format{"process_state", "processes as /proc shows them", "stacks.md", stacks::sniff_process_state,
           stacks::parse_process_state},
    Format{"py_spy_json", "stacks of py-spy (JSON)", "stacks.md", stacks::sniff_py_spy_json,
           stacks::parse_py_spy_json},
    Format{"py_spy", "stacks of py-spy (text)", "stacks.md", stacks::sniff_py_spy_text,
           stacks::parse_py_spy_text},
    Format{"native_backtrace", "stacks of gdb, pstack or eu-stack", "stacks.md", stacks::sniff_backtrace,
           stacks::parse_backtrace},
    Format{"faulthandler", "stacks of Python's faulthandler", "stacks.md", stacks::sniff_faulthandler,
           stacks::parse_faulthandler},
    Format{"log", "text log", "logs.md", log::sniff, log::parse},  // last: nearly anything is text
};

// People paste what RAS answers, stacks and what the job printed into one file.
bool is_pasted_text(std::string_view id) {
  return id == "nccl_ras_text" || id == "py_spy" || id == "native_backtrace" || id == "faulthandler";
}

bool holds_log_lines(std::string_view id, std::string_view bytes) {
  // "ProcessGroupNCCL" stands in every native stack of PyTorch.
  if (id == "nccl_ras_text" && bytes.find("ProcessGroupNCCL") != std::string_view::npos) return true;
  for (const std::string_view sign :
       {"NCCL WARN ", "NVRM: ", " NCCL INFO ", "Fatal Python error: ", "Watchdog caught collective"}) {
    if (bytes.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

void add_embedded_stacks(std::string_view bytes, Evidence& evidence) {
  stacks::EmbeddedStacks embedded;
  embedded.feed(bytes);
  embedded.finish(evidence);
  if (evidence.process_samples.empty()) return;
  evidence.kind = "log";
  std::erase_if(evidence.problems, [](const auto& problem) { return problem.code == "not_recognised"; });
}

}  // namespace

std::span<const Format> format_catalogue() {
  return kFormats;
}

Evidence read_evidence(std::string path, std::string_view bytes) {
  Evidence evidence;
  evidence.path = std::move(path);
  if (bytes.empty()) {
    evidence.problems.push_back({.severity = model::Severity::kDataLoss,
                                 .code = "empty",
                                 .text = "the file is empty: its writer was killed or the disk was full",
                                 .offset = {},
                                 .bytes_lost = 0});
    return evidence;
  }
  for (const Format& format : kFormats) {
    if (!format.sniff(bytes.substr(0, kSniffBytes))) continue;
    evidence.kind = format.id;
    format.parse(bytes, evidence);
    if (is_pasted_text(format.id) && holds_log_lines(format.id, bytes)) log::parse(bytes, evidence);
    if (format.id == "log") add_embedded_stacks(bytes, evidence);
    return evidence;
  }
  evidence.problems.push_back({.severity = model::Severity::kInfo,
                               .code = "not_recognised",
                               .text = "not a format that unhang reads; ignored",
                               .offset = {},
                               .bytes_lost = 0});
  return evidence;
}

}  // namespace unhang::formats
