// SPDX-License-Identifier: Apache-2.0
#include "formats/log/python_exception.h"

#include <string>

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::size_t kTypeBytes = 120;

// How names of exceptions end.
constexpr std::string_view kEnds[] = {"Error",   "Exception", "Interrupt", "Exit",   "Empty",     "Full",
                                      "Expired", "Timeout",   "Iteration", "Failed", "Cancelled", "gaierror",
                                      "timeout", "NotFound",  "Died",      "Closed"};

constexpr std::string_view kTypesElsewhere[] = {
    "DistBackendError",       "DistNetworkError",          "DistStoreError",
    "ChildFailedError",       "RendezvousTimeoutError",    "RendezvousClosedError",
    "SignalException",        "RendezvousConnectionError", "RayActorError",
    "ActorDiedError",         "ActorUnavailableError",     "RendezvousGracefulExitError",
    "NodeDiedError",          "WorkerCrashedError",        "EngineDeadError",
    "AsyncEngineDeadError",   "MQEngineDeadError",         "ProcessExitedException",
    "ProcessRaisedException", "CalledProcessError",        "HorovodInternalError",
    "CancelledError",
};

constexpr std::string_view kMessagesElsewhere[] = {
    "NCCL error",
    "NCCL Error",
    "NCCL communicator was aborted",
    "ncclUniqueId from [",
    "unhandled cuda error",
    "unhandled system error",
    "atchdog caught collective",
    "Detected mismatch between collectives",
    "DDP expects same model",
    "monitoredBarrier",
    "gloo/",
    "Gloo connectFullMesh",
    "CUDA error: ",
    "cuda runtime error (",
    "cudaGetDeviceCount()",
    "Socket Timeout",
    "wait timeout after ",
    "seconds waiting for clients",
    "Timed out initializing process group",
    "DataLoader worker (pid",
    "client socket has",
    "connect() timed out",
    "Connection reset by peer",
    "Connection closed by peer",
    "Broken pipe",
    "ddress already in use",
    "Engine core initialization failed",
    "Engine process failed to start",
    "Worker failed with error",
    "Executor failed",
    "RPC call to ",
    "low on memory",
    "No CUDA GPUs are available",
    "Found no NVIDIA driver",
    "driver on your system is too old",
    "CUDA driver version is insufficient",
    "Torch not compiled with CUDA",
};

constexpr std::string_view kGpuMemory[] = {
    "CUDA out of memory",
    "HIP out of memory",
    "XPU out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "No available memory for the cache blocks",
    "Please try to increase --mem-fraction-static",
};

std::string_view last_part(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return dot == type.npos ? type : type.substr(dot + 1);
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kTypeBytes || text.front() == '.' || text.back() == '.') return false;
  bool lower = false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !is_digit(c) && c != '.' && c != '(' && c != ')') return false;
    lower = lower || (c >= 'a' && c <= 'z');
  }
  return lower && !is_digit(text.front());
}

bool ends_like_exception(std::string_view type) {
  const std::string_view name = last_part(type.substr(0, type.find('(')));
  for (const std::string_view end : kEnds) {
    if (name.ends_with(end) && name.size() > (end == "Error" || end == "Exception" ? end.size() : 0))
      return true;
  }
  return false;
}

}  // namespace

PythonException read_python_exception(std::string_view line, bool anywhere) {
  line = trimmed(line);
  const std::size_t colon = line.find(':');
  const std::string_view type = line.substr(0, colon);
  const std::string_view rest = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (!is_name(type) || (!rest.empty() && rest.front() != ' ')) return {};
  if (anywhere && trimmed(rest).empty()) return {};
  const bool dotted = type.find('.') != type.npos;
  const char first = last_part(type).front();
  const bool like = ends_like_exception(type);
  // Inside a traceback a class of a program may have any name; "module.Name" then tells it from text.
  if (!like && (anywhere || !dotted || first < 'A' || first > 'Z')) return {};
  return {type, trimmed(rest)};
}

bool told_elsewhere(const PythonException& exception) {
  const std::string_view type = last_part(exception.type);
  for (const std::string_view known : kTypesElsewhere) {
    if (type == known) return true;
  }
  if (exception.type.starts_with("nccl")) return true;  // "ncclSystemError: …", a line of another exception
  if (exception.type.starts_with("ray.") && type == "OutOfMemoryError") return true;
  for (const std::string_view known : kMessagesElsewhere) {
    if (has(exception.message, known)) return true;
  }
  return false;
}

void add_python_exception(const PythonException& exception, const Line& line, Facts& facts) {
  const std::string_view type = last_part(exception.type);
  if (type == "KeyboardInterrupt") {
    facts.add(event_of(LogEventKind::kProcessSignalled, 2), line);
    return;
  }
  if (type == "SystemExit") {
    const auto status = leading_number(exception.message);
    if (status && *status != 0) facts.add(event_of(LogEventKind::kProcessExit, *status), line);
    return;
  }
  bool memory = type == "OutOfMemoryError";
  for (const std::string_view words : kGpuMemory) memory = memory || has(exception.message, words);
  if (memory) {
    facts.add(event_of(LogEventKind::kCudaOutOfMemory, 0, -1, {}, exception.type), line);
    return;
  }
  const auto& origins = facts.log().origins;
  const std::int32_t rank = line.origin < origins.size() ? origins[line.origin].global_rank : -1;
  facts.add(event_of(LogEventKind::kException, 0, rank, exception.message, exception.type), line);
}

}  // namespace unhang::formats::log
