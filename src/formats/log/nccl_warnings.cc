// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "formats/log/families.h"
#include "formats/log/nccl_texts.h"

namespace unhang::formats::log {

std::string_view address_at(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::size_t end = text.find_first_of(" ,\t");
  std::string_view word = text.substr(0, end);
  if (const std::size_t close = word.find('>'); close != std::string_view::npos)
    word = word.substr(0, close + 1);
  while (word.ends_with(':') || word.ends_with('.')) word.remove_suffix(1);
  return word.substr(0, 128);
}

std::span<const std::string_view> nccl_warning_keywords() {
  static constexpr std::array<std::string_view, 46> kWords{"Got completion ",
                                                           "Got CQE with error",
                                                           "ibv_",
                                                           "Unable to open device",
                                                           "async event",
                                                           "async fatal event",
                                                           "GID table changed",
                                                           "collective mismatch",
                                                           "incorrect receive",
                                                           "Connection closed",
                                                           "connection closed",
                                                           "Call to ",
                                                           "essage truncated",
                                                           "nterface found",
                                                           "onnect to ",
                                                           "connecting to address",
                                                           "connection attempt",
                                                           "Duplicate GPU",
                                                           "anks are using the",
                                                           "already checked in",
                                                           "mismatch in ",
                                                           "NCCL version",
                                                           "mixed local Net",
                                                           "threads racing",
                                                           "failed to extend",
                                                           "shared memory",
                                                           "/dev/",
                                                           "Cuda failure",
                                                           "Failed to CUDA",
                                                           "ulticast",
                                                           "library version",
                                                           "is disabled between",
                                                           "GPU Direct RDMA",
                                                           "real path of",
                                                           "MNNVL",
                                                           "Mismatched ",
                                                           "fatal error",
                                                           "remote error",
                                                           "ncclRemoteError",
                                                           "declaring peer",
                                                           "execute operation",
                                                           "polling for opId",
                                                           "progressing operation",
                                                           "[Proxy Service",
                                                           "[Service thread]",
                                                           "[Proxy Progress]"};
  return kWords;
}

bool take_nccl_warning(std::string_view message, const Line& line, Facts& facts) {
  return take_rdma_warning(message, line, facts) || take_socket_warning(message, line, facts) ||
         take_start_warning(message, line, facts) || take_memory_warning(message, line, facts) ||
         take_cuda_warning(message, line, facts) || take_progress_warning(message, line, facts);
}

}  // namespace unhang::formats::log
