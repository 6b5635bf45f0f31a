// SPDX-License-Identifier: Apache-2.0
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

bool take_nccl_warning(std::string_view message, const Line& line, Facts& facts) {
  return take_rdma_warning(message, line, facts) || take_socket_warning(message, line, facts) ||
         take_start_warning(message, line, facts) || take_memory_warning(message, line, facts) ||
         take_cuda_warning(message, line, facts) || take_progress_warning(message, line, facts);
}

}  // namespace unhang::formats::log
