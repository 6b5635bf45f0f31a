// SPDX-License-Identifier: Apache-2.0
#include "detect/nccl_source.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

TEST(NcclSource, IsToldByTheEndOfTheFileName) {
  for (const char* file : {"transport/net.cc", "init.cc:1234", "include/alloc.h:104", "misc/cudawrap.cc",
                           "init.cu:1234", "common.cu:1000", "/nccl/src/enqueue.cc"})
    EXPECT_TRUE(is_nccl_source(file)) << file;
  for (const char* file : {"", "torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError", "CUDA error",
                           "ProcessGroupNCCL.cpp:616", "train.py", "torch.hub.Error", "a.cu_1", ".ccc"})
    EXPECT_FALSE(is_nccl_source(file)) << file;
}

}  // namespace
}  // namespace unhang::detect
