// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/line_words.h"

#include <charconv>

namespace unhang::formats::ras {

using model::NcclResult;
using model::RasCollective;
using model::RasStatus;

namespace {

constexpr std::size_t kMaxHost = 256;
constexpr std::size_t kMaxDevices = 1024;

template <class Number>
std::optional<Number> take_number(std::string_view& rest) {
  Number value{};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

// "GPU 0 (NVML 3)", "GPUs 0,1"; without an NVML part both are the same.
bool read_devices(LineWords& words, std::vector<std::int32_t>& cuda, std::vector<std::int32_t>& nvml) {
  if (!words.take("GPUs ") && !words.take("GPU ")) return false;
  const auto cuda_list = words.list();
  if (!cuda_list) return false;
  auto nvml_list = cuda_list;
  if (words.take(" (NVML ")) {
    nvml_list = words.list();
    if (!nvml_list || !words.take(")")) return false;
  }
  if (cuda_list->size() > kMaxDevices || nvml_list->size() > kMaxDevices) return false;
  cuda = *cuda_list;
  nvml = *nvml_list;
  return true;
}

}  // namespace

bool LineWords::take(std::string_view literal) {
  if (!x_rest.starts_with(literal)) return false;
  x_rest.remove_prefix(literal.size());
  return true;
}

void LineWords::skip_blanks() {
  x_rest.remove_prefix(std::min(x_rest.find_first_not_of(' '), x_rest.size()));
}

std::string_view LineWords::word() {
  const std::string_view out = x_rest.substr(0, x_rest.find(' '));
  x_rest.remove_prefix(out.size());
  return out;
}

std::optional<std::int64_t> LineWords::integer() {
  return take_number<std::int64_t>(x_rest);
}

std::optional<std::uint64_t> LineWords::count() {
  return take_number<std::uint64_t>(x_rest);
}

std::optional<std::vector<std::int32_t>> LineWords::list() {
  std::vector<std::int32_t> out;
  std::string_view rest = x_rest;
  while (true) {
    const auto value = take_number<std::int32_t>(rest);
    if (!value) return std::nullopt;
    out.push_back(*value);
    if (!rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  x_rest = rest;
  return out;
}

bool read_place(LineWords& words, model::RasRank& rank) {
  std::vector<std::int32_t> cuda;
  std::vector<std::int32_t> nvml;
  LineWords at = words;
  if (!read_devices(at, cuda, nvml) || !at.take(" managed by process ")) return false;
  const auto pid = at.integer();
  if (!pid || !at.take(" on node ")) return false;
  const std::string_view host = at.word();
  if (host.empty() || host.size() > kMaxHost) return false;
  rank.cuda_device = cuda.front();
  rank.nvml_device = nvml.front();
  rank.pid = *pid;
  rank.host = host;
  words = at;
  return true;
}

bool read_process(LineWords& words, model::RasProcess& process) {
  LineWords at = words;
  if (!at.take("Process ")) return false;
  const auto pid = at.integer();
  if (!pid || !at.take(" on node ")) return false;
  const std::string_view host = at.word();
  if (host.empty() || host.size() > kMaxHost || !at.take(" managing ")) return false;
  if (!read_devices(at, process.cuda_devices, process.nvml_devices)) return false;
  process.pid = *pid;
  process.host = host;
  words = at;
  return true;
}

std::optional<RasStatus> status_of(std::string_view word) {
  if (word == "RUNNING") return RasStatus::kRunning;
  if (word == "INIT") return RasStatus::kInit;
  if (word == "FINALIZE") return RasStatus::kFinalize;
  if (word == "ABORT") return RasStatus::kAbort;
  if (word == "NOCOMM" || word == "UNKNOWN") return RasStatus::kNoCommunicator;  // 2.24, 2.25: UNKNOWN
  return std::nullopt;
}

std::optional<RasCollective> collective_of(std::string_view word) {
  for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
    const auto value = static_cast<RasCollective>(i);
    if (word == name_of(value)) return value;
  }
  return std::nullopt;
}

NcclResult result_of(std::string_view text) {
  if (text == "Unhandled CUDA error") return NcclResult::kUnhandledCuda;
  if (text == "System error") return NcclResult::kSystem;
  if (text == "Internal error") return NcclResult::kInternal;
  if (text == "Invalid argument") return NcclResult::kInvalidArgument;
  if (text == "Invalid usage") return NcclResult::kInvalidUsage;
  if (text == "Remote process error") return NcclResult::kRemote;
  if (text == "NCCL operation in progress") return NcclResult::kInProgress;
  return NcclResult::kOther;
}

bool read_error_words(std::string_view words, bool& incomplete, bool& error, bool& mismatch) {
  bool known = true;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (word == "INCOMPLETE") {
      incomplete = true;
    } else if (word == "ERROR") {
      error = true;
    } else if (word == "MISMATCH") {
      mismatch = true;
    } else if (word != "OK") {
      known = false;
    }
  }
  return known;
}

}  // namespace unhang::formats::ras
