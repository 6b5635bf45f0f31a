// SPDX-License-Identifier: Apache-2.0
#include "formats/log/cuda_error_text.h"

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

struct Row {
  std::string_view text;
  std::int64_t number;
  LogEventKind kind = LogEventKind::kCudaError;
};

// Numbers of driver_types.h (CUDA 12). A text that begins like another stands before it.
constexpr Row kRows[] = {
    {"invalid argument", 1},
    {"out of memory", 2, LogEventKind::kCudaOutOfMemory},
    {"initialization error", 3},
    {"driver shutting down", 4},
    {"CUDA driver version is insufficient", 35, LogEventKind::kDriverMismatch},
    {"all CUDA-capable devices are busy", 46, LogEventKind::kDeviceUnavailable},
    {"CUDA-capable device(s) is/are busy", 46, LogEventKind::kDeviceUnavailable},
    {"no CUDA-capable device is detected", 100, LogEventKind::kDeviceUnavailable},
    {"invalid device ordinal", 101},
    {"device kernel image is invalid", 200},
    {"no kernel image is available", 209},
    {"uncorrectable ECC error", 214},
    {"peer access is not supported", 217},
    {"uncorrectable NVLink error", 220},
    {"invalid resource handle", 400},
    {"an illegal memory access", 700},
    {"too many resources requested", 701},
    {"the launch timed out", 702},
    {"peer access is already enabled", 704},
    {"context is destroyed", 709},
    {"device-side assert triggered", 710},
    {"peer mapping resources exhausted", 711},
    {"hardware stack error", 714},
    {"an illegal instruction", 715},
    {"misaligned address", 716},
    {"invalid program counter", 718},
    {"unspecified launch failure", 719},
    {"Invalid access of peer GPU memory over nvlink", 721},
    {"operation not permitted", 800},
    {"operation not supported", 801},
    {"system not yet initialized", 802},
    {"system has unsupported display driver", 803, LogEventKind::kDriverMismatch},
    {"forward compatibility was attempted", 804, LogEventKind::kDriverMismatch},
    {"the remote procedural call between the MPS", 807},
    {"unknown error", 999},
};

// Texts that nothing else says: they tell an error without "CUDA error: " in front, too.
constexpr std::string_view kUnmistakable[] = {
    "an illegal memory access was encountered",
    "uncorrectable ECC error encountered",
    "uncorrectable NVLink error detected",
};

const Row* row_of(std::string_view text) {
  for (const Row& row : kRows) {
    if (text.starts_with(row.text)) return &row;
  }
  return nullptr;
}

}  // namespace

std::int64_t cuda_error_number(std::string_view text) {
  const Row* row = row_of(text);
  return row == nullptr ? -1 : row->number;
}

bool take_cuda_error(const Line& line, Facts& facts) {
  const std::string_view message = line.message;
  std::int64_t printed = -1;
  std::string_view text;
  if (const auto found = behind(message, "CUDA error: ")) {
    text = *found;
  } else if (const auto old =
                 behind(message, "cuda runtime error (")) {  // PyTorch <= 1.5: "(77) : TEXT at FILE:L"
    printed = leading_number(*old).value_or(-1);
    text = behind(*old, ") : ").value_or("");
    text = text.substr(0, find_text(text, " at "));
  } else if (const auto count = behind(message, "cudaGetDeviceCount()")) {  // "… Error 802: system not yet …"
    const auto error = behind(*count, "Error ");
    if (!error) return false;
    printed = leading_number(*error).value_or(-1);
    text = behind(*error, ": ").value_or("");
    text = text.substr(0, find_text(text, " (Triggered internally"));
  } else if (!has(message, "uda failure") && !has(message, "CUDA failure")) {  // Horovod, TensorFlow, DALI
    for (const std::string_view fatal : kUnmistakable) {
      const std::size_t at = message.find(fatal);
      if (at != message.npos) text = fatal;
    }
  }
  text = trimmed(text);
  // Hints of PyTorch stand on lines of their own, in a terminal's copy on the same one.
  text = trimmed(text.substr(0, find_text(text, "CUDA kernel errors might")));
  text = trimmed(text.substr(0, find_text(text, "Search for `cudaError")));
  if (text.empty()) return false;
  const Row* row = row_of(text);
  const LogEventKind kind = row == nullptr ? LogEventKind::kCudaError : row->kind;
  // Numbers changed with CUDA 10.1; the text tells the one of today.
  const std::int64_t number = row == nullptr ? printed : row->number;
  if (kind == LogEventKind::kCudaOutOfMemory) {
    facts.add(event_of(kind, 0, -1, {}, "CUDA error"), line);
  } else {
    const bool kernel = kind == LogEventKind::kCudaError;
    facts.add(event_of(kind, number, -1, text, kernel ? line.source_file : std::string_view()), line);
  }
  return true;
}

}  // namespace unhang::formats::log
