// SPDX-License-Identifier: Apache-2.0
#include "formats/log/log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/log/keyword_filter.h"
#include "formats/log/reader.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kSmelled = 4 << 20;  // whether an unknown text is of a job is asked of its beginning

bool of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Words of the logs of jobs, in lower case, as words of their own.
bool is_of_a_job(std::string_view text) {
  constexpr std::array<std::string_view, 24> kWords{
      "nccl",   "rccl", "cuda", "gpu",       "gpus",   "rank",  "ranks",     "torch",
      "nvidia", "ray",  "mpi",  "mpirun",    "srun",   "slurm", "kernel",    "error",
      "epoch",  "vllm", "loss", "traceback", "sglang", "gloo",  "deepspeed", "torchrun"};
  text = text.substr(0, kSmelled);
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && of_word(text[i])) {
      if (word.size() < 16)
        word += static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
      continue;
    }
    if (word.size() >= 3 && std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
    word.clear();
  }
  return false;
}

}  // namespace

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

bool sniff(std::string_view bytes) {
  if (is_utf16(bytes)) return true;  // parse() says what to do
  std::size_t odd = 0, nul = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) ++nul;
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b' && c != '\f') ++odd;
  }
  // A log whose file was cut while its writer kept its place begins with a hole of NULs.
  const std::size_t hole = std::min(bytes.find_first_not_of('\0'), bytes.size());
  return (hole != bytes.size() || bytes.empty()) && nul - hole <= bytes.size() / 256 &&
         odd - hole <= bytes.size() / 64;
}

void parse(std::string_view bytes, Evidence& evidence) {
  if (is_utf16(bytes)) {
    evidence.problems.push_back({.severity = model::Severity::kDataLoss,
                                 .code = "utf16",
                                 .text = "the text is UTF-16, which is not read; convert it: "
                                         "iconv -f UTF-16 -t UTF-8",
                                 .offset = 0,
                                 .bytes_lost = bytes.size()});
    return;
  }
  LogReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) reader.feed(bytes.substr(at, kBlock));
  model::Log log = reader.finish();
  if (log.empty() && !is_of_a_job(bytes)) {
    evidence.kind = "unknown";
    evidence.problems.push_back({.severity = model::Severity::kInfo,
                                 .code = "not_recognised",
                                 .text = "not a format that unhang reads; ignored",
                                 .offset = {},
                                 .bytes_lost = 0});
  }
  evidence.logs.push_back(std::move(log));
}

}  // namespace unhang::formats::log
