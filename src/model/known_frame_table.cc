// SPDX-License-Identifier: Apache-2.0
#include "model/known_frame_table.h"

#include <algorithm>
#include <array>

namespace unhang::model {
namespace {

using enum Activity;

// PyTorch: torch/utils/data, torch/serialization.py, torch/distributed; Megatron-LM, DeepSpeed and
// Transformers: their checkpointing; vLLM and SGLang: model loaders, workers, schedulers. Names as of
// PyTorch 2.0 to 2.9, vLLM 0.6 to 0.11 and SGLang 0.4 to 0.5.
constexpr std::array kPython{
    // Workers of a data loader and of compilers are processes of their own.
    KnownFrame{kHelperProcess, "_worker_loop", "torch/utils/data/_utils/worker.py"},
    KnownFrame{kHelperProcess, "*", "_inductor/compile_worker/"},
    KnownFrame{kHelperProcess, "main", "multiprocessing/resource_tracker.py"},
    KnownFrame{kHelperProcess, "main", "multiprocessing/forkserver.py"},

    KnownFrame{kDataLoading, "_next_data", "dataloader.py"},
    KnownFrame{kDataLoading, "_try_get_data", "dataloader.py"},
    KnownFrame{kDataLoading, "_get_data", "dataloader.py"},
    KnownFrame{kDataLoading, "_get_iterator", "dataloader.py"},
    KnownFrame{kDataLoading, "fetch", "torch/utils/data/_utils/fetch.py"},
    KnownFrame{kDataLoading, "*", "torch/utils/data/"},
    KnownFrame{kDataLoading, "__getitem__", "datasets/arrow_dataset.py"},
    KnownFrame{kDataLoading, "*", "webdataset/"},
    KnownFrame{kDataLoading, "*", "streaming/base/dataset.py"},

    KnownFrame{kCheckpoint, "save_checkpoint*"},
    KnownFrame{kCheckpoint, "load_checkpoint*"},
    KnownFrame{kCheckpoint, "_save_checkpoint*"},
    KnownFrame{kCheckpoint, "_load_checkpoint*"},
    KnownFrame{kCheckpoint, "*", "torch/distributed/checkpoint/"},
    KnownFrame{kCheckpoint, "*", "dist_checkpointing/"},
    KnownFrame{kCheckpoint, "*", "training/checkpointing.py"},

    KnownFrame{kWeightLoading, "*", "model_executor/model_loader/"},
    KnownFrame{kWeightLoading, "*", "sglang/srt/model_loader/"},
    KnownFrame{kWeightLoading, "load_weights*"},
    KnownFrame{kWeightLoading, "load_model*"},
    KnownFrame{kWeightLoading, "from_pretrained"},
    KnownFrame{kWeightLoading, "*", "safetensors/"},
    // After the loaders above: weights are loaded with torch.load, too.
    KnownFrame{kCheckpoint, "save", "torch/serialization.py"},
    KnownFrame{kCheckpoint, "_save", "torch/serialization.py"},
    KnownFrame{kCheckpoint, "load", "torch/serialization.py"},
    KnownFrame{kCheckpoint, "_load", "torch/serialization.py"},

    KnownFrame{kCompilation, "*", "torch/_inductor/"},
    KnownFrame{kCompilation, "_compile*", "torch/_dynamo/"},
    KnownFrame{kCompilation, "compile*", "triton/"},
    KnownFrame{kCompilation, "_run_ninja_build", "cpp_extension.py"},
    KnownFrame{kCompilation, "capture_begin", "torch/cuda/graphs.py"},
    KnownFrame{kCompilation, "capture_end", "torch/cuda/graphs.py"},
    KnownFrame{kCompilation, "capture_model"},
    KnownFrame{kCompilation, "capture_one_batch_size"},
    KnownFrame{kCompilation, "*", "flashinfer/jit/"},
    KnownFrame{kCompilation, "*", "deep_gemm/jit"},
    KnownFrame{kCompilation, "*autotune*"},

    KnownFrame{kTokenizing, "_batch_encode_plus"},
    KnownFrame{kTokenizing, "_encode_plus"},
    KnownFrame{kTokenizing, "*", "transformers/tokenization_"},

    KnownFrame{kCommunicatorEnd, "destroy_process_group"},
    KnownFrame{kCommunicatorEnd, "_abort_process_group"},
    KnownFrame{kCommunicatorInit, "init_process_group"},
    KnownFrame{kCommunicatorInit, "_new_process_group_helper"},
    KnownFrame{kCommunicatorInit, "new_group", "distributed_c10d.py"},
    KnownFrame{kCommunicatorInit, "_new_group_with_tag"},
    KnownFrame{kCommunicatorInit, "_create_c10d_store"},
    KnownFrame{kCommunicatorInit, "_store_based_barrier"},
    KnownFrame{kCommunicatorInit, "*", "torch/distributed/rendezvous.py"},
    KnownFrame{kCommunicatorInit, "*", "torch/distributed/elastic/rendezvous/"},
    KnownFrame{kCommunicatorInit, "ncclCommInitRank", "pynccl"},

    KnownFrame{kWorkerWait, "get_response", "vllm/v1/executor/"},
    KnownFrame{kWorkerWait, "_wait_for_response", "vllm/v1/executor/"},
    KnownFrame{kWorkerWait, "collective_rpc", "vllm/v1/executor/"},
    // Before the collectives: they hand requests out by a broadcast.
    KnownFrame{kRequestWait, "recv_requests", "scheduler.py"},
    KnownFrame{kRequestWait, "acquire_read", "shm_broadcast.py"},
    KnownFrame{kRequestWait, "dequeue", "shm_broadcast.py"},
    KnownFrame{kRequestWait, "_process_input_queue", "v1/engine/core.py"},
    KnownFrame{kRequestWait, "poll", "zmq/"},
    KnownFrame{kRequestWait, "recv*", "zmq/"},

    KnownFrame{kCollectiveWait, "monitored_barrier"},
    KnownFrame{kCollectiveWait, "barrier"},
    KnownFrame{kCollectiveWait, "all_reduce*", "distributed"},
    KnownFrame{kCollectiveWait, "all_gather*", "distributed"},
    KnownFrame{kCollectiveWait, "reduce_scatter*", "distributed"},
    KnownFrame{kCollectiveWait, "all_to_all*", "distributed"},
    KnownFrame{kCollectiveWait, "broadcast*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "reduce*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "gather*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "scatter*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "send*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "recv*", "distributed_c10d.py"},
    KnownFrame{kCollectiveWait, "wait_tensor", "torch/distributed/"},
    KnownFrame{kCollectiveWait, "wait", "torch/distributed/"},
    KnownFrame{kCollectiveWait, "all_reduce", "device_communicators/"},

    KnownFrame{kGpuWait, "synchronize", "torch/cuda/"},
    KnownFrame{kLock, "wait", "threading.py"},
    KnownFrame{kLock, "acquire", "threading.py"},
    KnownFrame{kLock, "join", "threading.py"},
    KnownFrame{kLock, "_wait_for_tstate_lock", "threading.py"},
    KnownFrame{kLock, "get", "queue.py"},
    KnownFrame{kLock, "get", "multiprocessing/queues.py"},
    KnownFrame{kLock, "*acquire*", "filelock/"},
};

// NCCL: src/init.cc, src/bootstrap.cc, src/transport.cc, src/proxy.cc, src/ras; PyTorch: c10d; CUDA's runtime
// and driver; CPython's ceval_gil; glibc.
constexpr std::array kNative{
    KnownFrame{kNcclThread, "ncclProxyService*"},
    KnownFrame{kNcclThread, "ncclProxyProgress*"},
    KnownFrame{kNcclThread, "persistentThread", "proxy.cc"},
    KnownFrame{kNcclThread, "rasThreadMain*"},
    KnownFrame{kNcclThread, "ncclRasThread*"},
    KnownFrame{kNcclThread, "ncclIbAsyncThread*"},
    KnownFrame{kNcclThread, "persistentSocketThread*"},
    KnownFrame{kWatchdog, "*::ncclCommWatchdog"},
    KnownFrame{kWatchdog, "*::heartbeatMonitor"},
    KnownFrame{kWatchdog, "*::runLoop", "libtorch_cuda"},
    KnownFrame{kWatchdog, "*HeartbeatMonitor::*"},
    KnownFrame{kWatchdog, "*Watchdog::*"},

    KnownFrame{kCommunicatorEnd, "ncclCommAbort*"},
    KnownFrame{kCommunicatorEnd, "ncclCommDestroy*"},
    KnownFrame{kCommunicatorEnd, "ncclCommFinalize*"},
    KnownFrame{kCommunicatorInit, "ncclCommInit*"},
    KnownFrame{kCommunicatorInit, "pncclCommInit*"},
    KnownFrame{kCommunicatorInit, "ncclCommSplit*"},
    KnownFrame{kCommunicatorInit, "initTransportsRank*"},
    KnownFrame{kCommunicatorInit, "bootstrap*", "bootstrap.cc"},
    KnownFrame{kCommunicatorInit, "bootstrap*", "libnccl"},
    KnownFrame{kCommunicatorInit, "bootstrapInit*"},
    KnownFrame{kCommunicatorInit, "bootstrapAllGather*"},
    KnownFrame{kCommunicatorInit, "ncclTransportP2pSetup*"},
    KnownFrame{kCommunicatorInit, "ncclTransport*Connect*"},
    KnownFrame{kCommunicatorInit, "ncclTransport*Setup*"},
    KnownFrame{kCommunicatorInit, "c10d::*Store::*"},
    KnownFrame{kCommunicatorInit, "*ProcessGroupNCCL::getNCCLComm*"},
    KnownFrame{kCommunicatorInit, "*ProcessGroupNCCL::initNCCLComm"},
    KnownFrame{kCommunicatorInit, "*ProcessGroupNCCL::broadcastUniqueNCCLID"},

    KnownFrame{kCollectiveWait, "ncclGroupEnd*"},
    KnownFrame{kCollectiveWait, "ncclAllReduce*"},
    KnownFrame{kCollectiveWait, "ncclAllGather*"},
    KnownFrame{kCollectiveWait, "ncclReduce*"},
    KnownFrame{kCollectiveWait, "ncclBroadcast*"},
    KnownFrame{kCollectiveWait, "ncclSend*"},
    KnownFrame{kCollectiveWait, "ncclRecv*"},
    KnownFrame{kCollectiveWait, "*WorkNCCL::wait*"},
    KnownFrame{kCollectiveWait, "*WorkNCCL::synchronize*"},
    KnownFrame{kCollectiveWait, "*::monitoredBarrier"},
    KnownFrame{kCollectiveWait, "c10d::*::barrier"},
    KnownFrame{kCollectiveWait, "c10d::*Work::wait"},
    KnownFrame{kCollectiveWait, "gloo::*"},

    KnownFrame{kCompilation, "*nvrtcCompileProgram*"},
    KnownFrame{kCompilation, "*cuModuleLoad*"},

    KnownFrame{kGpuWait, "*cudaStreamSynchronize*"},
    KnownFrame{kGpuWait, "*cudaEventSynchronize*"},
    KnownFrame{kGpuWait, "*cudaDeviceSynchronize*"},
    KnownFrame{kGpuWait, "*cuStreamSynchronize*"},
    KnownFrame{kGpuWait, "*cuEventSynchronize*"},
    KnownFrame{kGpuWait, "*cuCtxSynchronize*"},
    KnownFrame{kGpuWait, "*cudaMemcpy*"},
    KnownFrame{kGpuWait, "*cuMemcpy*"},
    KnownFrame{kGpuWait, "*memcpy_and_sync*"},
    KnownFrame{kGpuWait, "*_local_scalar_dense_cuda*"},
    KnownFrame{kInterpreterLock, "take_gil"},
    KnownFrame{kInterpreterLock, "PyEval_RestoreThread"},
    KnownFrame{kInterpreterLock, "PyEval_AcquireThread"},
    KnownFrame{kInterpreterLock, "PyGILState_Ensure"},
    KnownFrame{kSleep, "*nanosleep*"},
    KnownFrame{kSleep, "time_sleep"},
    KnownFrame{kSleep, "pysleep"},
    KnownFrame{kLock, "*lll_lock_wait*"},
    KnownFrame{kLock, "*pthread_mutex_lock*"},
    KnownFrame{kLock, "*pthread_cond_*wait*"},
    KnownFrame{kLock, "*futex*wait*"},
    KnownFrame{kLock, "do_futex_wait*"},
    KnownFrame{kLock, "*sem_wait*"},
};

// Linux: fs/nfs, net/sunrpc, fs/fuse, fs/ceph, Lustre; mm/filemap.c, fs/jbd2; NVIDIA's kernel modules.
constexpr std::array kKernel{
    KnownFrame{kNetworkFile, "nfs*"},
    KnownFrame{kNetworkFile, "rpc_wait*"},
    KnownFrame{kNetworkFile, "rpc_*"},
    KnownFrame{kNetworkFile, "ptlrpc_*"},
    KnownFrame{kNetworkFile, "cl_sync_io_wait*"},
    KnownFrame{kNetworkFile, "ll_file_*"},
    KnownFrame{kNetworkFile, "ceph_*"},
    KnownFrame{kNetworkFile, "request_wait_answer*"},
    KnownFrame{kNetworkFile, "fuse_*"},
    KnownFrame{kNetworkFile, "cifs_*"},
    KnownFrame{kNetworkFile, "wait_for_response*"},
    KnownFrame{kGpuDriver, "nvidia_*"},
    KnownFrame{kGpuDriver, "_nv0*"},
    KnownFrame{kGpuDriver, "os_acquire_*"},
    KnownFrame{kGpuDriver, "uvm_*"},
    KnownFrame{kGpuDriver, "nv_*"},
    KnownFrame{kFileAccess, "folio_wait_bit*"},
    KnownFrame{kFileAccess, "wait_on_page_bit*"},
    KnownFrame{kFileAccess, "wait_on_buffer*"},
    KnownFrame{kFileAccess, "io_schedule*"},
    KnownFrame{kFileAccess, "jbd2_*"},
    KnownFrame{kFileAccess, "xfs_*"},
    KnownFrame{kFileAccess, "ext4_*"},
    KnownFrame{kSleep, "hrtimer_nanosleep*"},
    KnownFrame{kSleep, "do_nanosleep*"},
    KnownFrame{kLock, "futex_wait*"},
};

Activity first_match(std::span<const KnownFrame> table, std::string_view function, std::string_view file) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const KnownFrame& known) {
    return matches_name(known.function, function) &&
           (known.file.empty() || file.find(known.file) != std::string_view::npos);
  });
  return found == table.end() ? kUnknown : found->activity;
}

}  // namespace

std::span<const KnownFrame> known_python_frames() {
  return kPython;
}
std::span<const KnownFrame> known_native_frames() {
  return kNative;
}
std::span<const KnownFrame> known_kernel_functions() {
  return kKernel;
}

bool matches_name(std::string_view pattern, std::string_view name) {
  // Parts between stars, each found behind the one before it.
  const bool open_begin = pattern.starts_with('*');
  bool first = true;
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (!part.empty()) {
      const bool anchored = first && !open_begin;
      if (last && !anchored) return name.ends_with(part);
      if (last) return name == part;
      const std::size_t at = name.find(part);
      if (at == std::string_view::npos || (anchored && at != 0)) return false;
      name.remove_prefix(at + part.size());
    } else if (last) {
      return !first || name.empty();  // "…*" takes any rest; an empty pattern only an empty name
    }
    pattern.remove_prefix(star + 1);
    first = false;
  }
}

Activity activity_of(const StackFrame& frame) {
  return first_match(frame.python ? known_python_frames() : known_native_frames(), frame.function,
                     frame.file);
}

Activity activity_of_kernel(std::string_view function) {
  return function.empty() ? kUnknown : first_match(known_kernel_functions(), function, {});
}

}  // namespace unhang::model
