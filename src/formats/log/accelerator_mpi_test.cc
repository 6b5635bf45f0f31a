// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

using Kind = model::LogEventKind;

TEST(AcceleratorMessages, TellTheErrorByItsName) {
  const ToldLine lines[] = {
      {.line = "task 162 rank 1: CUDA_ERROR_CONTAINED: Invalid access of peer GPU memory over nvlink",
       .kind = Kind::kCudaError,
       .code = 721,
       .detail = "CUDA_ERROR_CONTAINED"},
      {.line = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
       .kind = Kind::kDeviceUnavailable,
       .code = 100,
       .detail = "CUDA_ERROR_NO_DEVICE"},
      {.line = "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS",
       .kind = Kind::kCudaError,
       .code = 700,
       .detail = "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {.line = "failed to alloc 2147483648 bytes: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
       .kind = Kind::kCudaOutOfMemory,
       .code = 2,
       .detail = "CUDA_ERROR_OUT_OF_MEMORY"},
      {.line = "HW Exception by GPU node-9 (Agent handle: 0x64ff272d8ab0) reason :GPU Hang",
       .kind = Kind::kEccError,
       .detail = "hardware exception: the GPU hangs"},
      {.line = "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f00. Reason: Unknown.",
       .kind = Kind::kCudaError,
       .code = 700,
       .detail = "memory access fault"},
  };
  EXPECT_EQ(not_told(accelerator_family, lines), "");
}

TEST(AcceleratorMessages, OtherNamesTellNothing) {
  const std::string_view lines[] = {
      "CUDA_ERROR_CODES are listed in cuda.h",
      "set CUDA_ERROR_LEVEL=50",
      "work done by GPU node-9",
  };
  EXPECT_EQ(told_of(accelerator_family, lines), "");
}

TEST(MpiMessages, TellAConnectionThatFailed) {
  const ToldLine lines[] = {
      {.line = "[10.0.0.6][[38971,1],2][btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_complete_connect] "
               "connect() to 172.17.0.1 failed: Connection refused (111)",
       .kind = Kind::kConnectFailed,
       .code = 111,
       .peer = "172.17.0.1"},
      {.line =
           "[n3][[1,1],2][../opal/mca/btl/tcp/btl_tcp_endpoint.c:626:mca_btl] connect() to 10.0.0.9 failed: "
           "No route to host (113)",
       .kind = Kind::kConnectFailed,
       .code = 113,
       .peer = "10.0.0.9"},
  };
  EXPECT_EQ(not_told(mpi_family, lines), "");
}

TEST(MpiMessages, SettingsOfTheSameLayerTellNothing) {
  const std::string_view lines[] = {
      "mpirun --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 ./train",
      "connect() to 10.0.0.9 failed: Connection refused (111)",
      "[n3][[1,1],2][btl_tcp_endpoint.c:638] received unexpected process identifier [[39817,1],3]",
  };
  EXPECT_EQ(told_of(mpi_family, lines), "");
}

}  // namespace
}  // namespace unhang::formats::log
