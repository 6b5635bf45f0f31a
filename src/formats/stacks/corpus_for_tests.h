// SPDX-License-Identifier: Apache-2.0
//
// Stacks that the fuzzers begin with, for tests as well, and what was read in a form that a test can compare.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "formats/evidence.h"

namespace unhang::formats::stacks {

inline std::string seed(const std::string& name) {
  std::ifstream in(std::filesystem::path(UNHANG_SOURCE_DIR) / "tests/fuzz/seeds" / name, std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), {}};
  if (out.empty()) throw std::runtime_error("no seed " + name);
  return out;
}

// "412 python3", then a line for each thread, "*" for the main one: "* 412 MainThread gil: f@a.py:3 <
// poll|libc.so". "@" stands for Python, "|" for native code; innermost first.
inline std::string shown(const Evidence& evidence) {
  std::string out;
  for (const model::ProcessSample& process : evidence.process_samples) {
    if (process.rank >= 0) out += "rank " + std::to_string(process.rank) + " ";
    out += std::to_string(process.pid) + " " + process.program + "\n";
    for (const model::ThreadSample& thread : process.threads) {
      out += (thread.is_main ? "* " : "  ") + std::to_string(thread.thread) + " " + thread.name +
             (thread.holds_interpreter ? " gil" : "") + ": ";
      for (const model::StackFrame& frame : thread.frames) {
        if (&frame != &thread.frames.front()) out += " < ";
        out += (frame.function.empty() ? "??" : frame.function) + (frame.python ? "@" : "|") + frame.file;
        if (frame.line > 0) out += ":" + std::to_string(frame.line);
      }
      out += "\n";
    }
  }
  return out;
}

}  // namespace unhang::formats::stacks
