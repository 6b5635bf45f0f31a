// SPDX-License-Identifier: Apache-2.0
//
// Whether NCCL itself met a CUDA error: the file of source that its line names is C++ of a library, and not
// Python or PyTorch.
#pragma once

#include <string_view>

namespace unhang::detect {

// "transport/net.cc", "alloc.h:104", "init.cu:1234" (NCCL before 2.5), and nccl-tests' "common.cu:1000". Not
// the type of an exception ("torch.cuda.OutOfMemoryError"), nor "ProcessGroupNCCL.cpp".
bool is_nccl_source(std::string_view file);

}  // namespace unhang::detect
