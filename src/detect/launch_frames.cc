// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_frames.h"

#include <array>

namespace unhang::detect {
namespace {

using model::StackFrame;
using model::ThreadSample;

struct Known {
  std::string_view function;  // a name ending in '*' is a beginning
  LaunchWork work;
};
// Names of NCCL 2.18 to 2.30, PyTorch 2.1 to 2.14, vLLM and SGLang. The innermost one on a stack decides:
// inside of a collective that connects first the connection is what it does.
constexpr std::array<Known, 66> kKnown{{
    {"ncclCommInit*", LaunchWork::kNcclInit},
    {"ncclCommSplit*", LaunchWork::kNcclInit},
    {"ncclGetUniqueId", LaunchWork::kNcclInit},
    {"bootstrap*", LaunchWork::kNcclInit},
    {"initTransportsRank", LaunchWork::kNcclInit},
    {"ncclTopoGetSystem", LaunchWork::kNcclInit},
    {"commAlloc", LaunchWork::kNcclInit},
    {"initNCCLComm", LaunchWork::kNcclInit},
    {"ncclTransport*", LaunchWork::kNcclConnect},
    {"ncclCollPreconnect*", LaunchWork::kNcclConnect},
    {"ncclP2PPreconnect*", LaunchWork::kNcclConnect},
    {"p2pCanConnect", LaunchWork::kNcclConnect},
    {"shmCanConnect", LaunchWork::kNcclConnect},
    {"ncclProxyConnect", LaunchWork::kNcclConnect},
    {"ncclAllReduce", LaunchWork::kCollective},
    {"ncclAllGather", LaunchWork::kCollective},
    {"ncclReduceScatter", LaunchWork::kCollective},
    {"ncclBroadcast", LaunchWork::kCollective},
    {"ncclSend", LaunchWork::kCollective},
    {"ncclRecv", LaunchWork::kCollective},
    {"all_reduce", LaunchWork::kCollective},
    {"all_gather*", LaunchWork::kCollective},
    {"reduce_scatter*", LaunchWork::kCollective},
    {"all_to_all*", LaunchWork::kCollective},
    {"broadcast", LaunchWork::kCollective},
    {"broadcast_object_list", LaunchWork::kCollective},
    {"barrier", LaunchWork::kCollective},
    {"batch_isend_irecv", LaunchWork::kCollective},
    {"_store_based_barrier", LaunchWork::kStore},
    {"rendezvous", LaunchWork::kStore},
    {"_create_c10d_store", LaunchWork::kStore},
    {"_tcp_rendezvous_handler", LaunchWork::kStore},
    {"_env_rendezvous_handler", LaunchWork::kStore},
    {"next_rendezvous", LaunchWork::kStore},
    {"TCPStore*", LaunchWork::kStore},
    {"init_process_group", LaunchWork::kStore},
    {"load_weights", LaunchWork::kWeights},
    {"load_model", LaunchWork::kWeights},
    {"safetensors_weights_iterator", LaunchWork::kWeights},
    {"pt_weights_iterator", LaunchWork::kWeights},
    {"load_state_dict", LaunchWork::kWeights},
    {"load_checkpoint", LaunchWork::kWeights},
    {"load_file", LaunchWork::kWeights},
    {"safe_open", LaunchWork::kWeights},
    {"snapshot_download", LaunchWork::kWeights},
    {"hf_hub_download", LaunchWork::kWeights},
    {"compile_fx*", LaunchWork::kCompile},
    {"_compile", LaunchWork::kCompile},
    {"capture_model", LaunchWork::kCompile},
    {"capture_graph", LaunchWork::kCompile},
    {"warmup", LaunchWork::kCompile},
    {"autotune", LaunchWork::kCompile},
    {"load_inline", LaunchWork::kCompile},
    {"_jit_compile", LaunchWork::kCompile},
    {"_write_ninja_file*", LaunchWork::kCompile},
    {"profile_run", LaunchWork::kCompile},
    {"get_tokenizer", LaunchWork::kTokenizer},
    {"init_tokenizer*", LaunchWork::kTokenizer},
    {"load_tokenizer", LaunchWork::kTokenizer},
    {"load_dataset", LaunchWork::kDataset},
    {"_next_data", LaunchWork::kDataset},
    {"_try_get_data", LaunchWork::kDataset},
    {"_find_and_load", LaunchWork::kImport},
    {"_load_unlocked", LaunchWork::kImport},
    {"exec_module", LaunchWork::kImport},
    {"import_module", LaunchWork::kImport},
}};

// Threads that wait by trade: what they stand in says nothing of the program.
constexpr std::array<std::string_view, 7> kHelpers{"pt_nccl_", "pt_tcpstore",    "NCCL Service", "NCCL RAS",
                                                   "NCCL I/O", "cuda-EvtHandlr", "pt_autograd"};

bool is_helper(const ThreadSample& thread) {
  for (const std::string_view name : kHelpers) {
    if (thread.name.starts_with(name)) return true;
  }
  return false;
}

// "c10d::ProcessGroupNCCL::initNCCLComm(int, …)" and "TCPStore.wait" by their last part; a native name may
// carry arguments.
std::string_view bare(const StackFrame& frame) {
  std::string_view name = frame.function;
  if (!frame.python) name = name.substr(0, name.find('('));
  if (const std::size_t at = name.rfind("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  if (const std::size_t at = name.rfind('.'); frame.python && at != std::string_view::npos)
    name.remove_prefix(at + 1);
  return name;
}

LaunchWork work_of(std::string_view function) {
  for (const Known& known : kKnown) {
    const bool same = known.function.ends_with('*')
                          ? function.starts_with(known.function.substr(0, known.function.size() - 1))
                          : function == known.function;
    if (same) return known.work;
  }
  return LaunchWork::kUnknown;
}

LaunchFrame of_thread(const ThreadSample& thread) {
  for (const StackFrame& frame : thread.frames) {
    const LaunchWork work = work_of(bare(frame));
    if (work != LaunchWork::kUnknown) return {work, frame.function};
  }
  return {};
}

}  // namespace

std::string_view words_for(LaunchWork work) {
  switch (work) {
    case LaunchWork::kImport:
      return "importing modules";
    case LaunchWork::kStore:
      return "waiting for other ranks in the store";
    case LaunchWork::kNcclInit:
      return "making a communicator";
    case LaunchWork::kNcclConnect:
      return "connecting channels";
    case LaunchWork::kCollective:
      return "in a collective";
    case LaunchWork::kWeights:
      return "loading weights";
    case LaunchWork::kCompile:
      return "compiling or capturing graphs";
    case LaunchWork::kTokenizer:
      return "loading the tokenizer";
    case LaunchWork::kDataset:
      return "waiting for data";
    case LaunchWork::kUnknown:
      break;
  }
  return "";
}

LaunchFrame launch_frame(const model::ProcessSample& sample) {
  for (const bool main : {true, false}) {
    for (const ThreadSample& thread : sample.threads) {
      const bool is_main = thread.is_main || thread.thread == sample.pid;
      if (is_main != main || is_helper(thread)) continue;
      if (LaunchFrame found = of_thread(thread); found.work != LaunchWork::kUnknown) return found;
    }
  }
  return {};
}

}  // namespace unhang::detect
