// SPDX-License-Identifier: Apache-2.0
#include "formats/log/nccl_shape.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/log/communicator_lives.h"
#include "formats/log/families.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/line_stream.h"

namespace unhang::formats::log {
namespace {

const std::string kCall =
    "AllReduce: opCount 28c sendbuff 0x7f3a00000000 recvbuff (nil) count 512 datatype 7 op 0 root 3 comm "
    "0x55cc [nranks=4] stream 0x9e00";

// What the reader's own filter says of a message, without the owners that a line of NCCL does not ask for.
KeywordBits searched(std::string_view message) {
  static const KeywordFilter kFilter = [] {
    KeywordFilter filter;
    const auto family = nccl_family();
    for (const OwnedKeyword& keyword : family->keywords()) filter.add(keyword.text, keyword.owner);
    LineStream::add_keywords(filter);
    filter.prepare();
    return filter;
  }();
  return kFilter.owners(message);
}

bool has_shape(const std::string& message) {
  CallLine call;
  return keywords_of_shape(message, call).has_value();
}

TEST(NcclShape, ReadsACallAsItsReaderDoes) {
  CallLine call;
  EXPECT_EQ(keywords_of_shape(kCall, call), bit(kNcclCall));
  const auto read = read_call_line(kCall);
  ASSERT_TRUE(read);
  EXPECT_EQ(call.kind, read->kind);
  EXPECT_EQ(call.op_count, read->op_count);
  EXPECT_EQ(call.count, read->count);
  EXPECT_EQ(call.pointer, read->pointer);
  EXPECT_EQ(call.datatype, read->datatype);
  EXPECT_EQ(call.op, read->op);
  EXPECT_EQ(call.root, read->root);
  EXPECT_EQ(call.ranks, read->ranks);
  EXPECT_EQ(call.pointer, 0x55ccu);
  EXPECT_EQ(call.root, 3);
}

// One byte more, less or other anywhere: either it is still what the reader makes of it, or it has no shape.
TEST(NcclShape, NothingElseIsACall) {
  for (std::size_t at = 0; at <= kCall.size(); ++at) {
    for (const char byte : {' ', 'x', '0', '-', ':'}) {
      std::vector<std::string> others{kCall};
      others.back().insert(at, 1, byte);
      if (at < kCall.size()) {
        others.push_back(kCall);
        others.back()[at] = byte;
      }
      for (const std::string& other : others) {
        CallLine call;
        if (!keywords_of_shape(other, call)) continue;
        const auto read = read_call_line(other);
        ASSERT_TRUE(read) << other;
        EXPECT_EQ(call.kind, read->kind) << other;
        EXPECT_EQ(call.op_count, read->op_count) << other;
        EXPECT_EQ(call.count, read->count) << other;
        EXPECT_EQ(call.pointer, read->pointer) << other;
        EXPECT_EQ(call.datatype, read->datatype) << other;
        EXPECT_EQ(call.op, read->op) << other;
        EXPECT_EQ(call.root, read->root) << other;
        EXPECT_EQ(call.ranks, read->ranks) << other;
        EXPECT_EQ(searched(other) & ~bit(kNcclPointer), bit(kNcclCall)) << other;
      }
    }
    // The stream, of which a digit is enough, is nothing that anybody reads.
    EXPECT_EQ(has_shape(kCall.substr(0, at)), at + 3 >= kCall.size()) << at;
  }
}

TEST(NcclShape, NoPointerOrNumbersThatNobodyHasAreNoCall) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string other = kCall;
    return other.replace(other.find(from), from.size(), to);
  };
  EXPECT_FALSE(has_shape(with("0x55cc", "0x0")));
  EXPECT_FALSE(has_shape(with("512", "1234567890123456789")));
  EXPECT_FALSE(has_shape(with("28c", "12345678901234567")));
  EXPECT_FALSE(has_shape(with("AllReduce", "Plugin")));
}

// Tuning tells nothing: no keyword stands in it.
TEST(NcclShape, TuningHoldsNoKeyword) {
  for (const std::string message : {"2048 Bytes -> Algo 1 proto 2 time 2.525277",
                                    "AllReduce: 8192 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}",
                                    "Broadcast: 8 Bytes -> Algo NVLS_TREE proto LL128 time 12.5"}) {
    CallLine call;
    EXPECT_EQ(keywords_of_shape(message, call), KeywordBits{0}) << message;
    EXPECT_EQ(searched(message), 0u) << message;
    EXPECT_EQ(call.pointer, 0u);
    EXPECT_FALSE(has_shape(message + " ")) << message;
    EXPECT_FALSE(has_shape(message + "gpu-1:1:2 [0] NCCL INFO comm 0x1")) << message;
  }
  EXPECT_FALSE(has_shape("Plugin: 8192 Bytes -> Algo RING proto SIMPLE time 1.5"));
  EXPECT_FALSE(has_shape("2048 Bytes -> Algo 1 proto 2 time 2"));
  EXPECT_FALSE(has_shape("2048 Bytes -> Algo  proto 2 time 2.5"));
  EXPECT_FALSE(has_shape(""));
}

// A line of a phase is known by its beginning, unless another line is glued to it.
TEST(NcclShape, PhasesAreKnownByTheirBeginning) {
  for (const std::string message :
       {"Channel 00/0 : 1[1] -> 2[2] via P2P/IPC/read", "Connected all rings, use ring PXN 0 GDR 1",
        "Connected NVLS tree", "Setting affinity for GPU 3 to 0-47", "Trees [0] 1/-1/-1->0->-1",
        "NVLS multicast support is available on dev 1", "threadThresholds 8/8/64 | 512/8/64 | 512 | 512",
        "P2P Chunksize set to 131072", "Init timings - ncclCommInitRank: rank 0",
        "Bootstrap timings total 1"}) {
    CallLine call;
    EXPECT_EQ(keywords_of_shape(message, call), bit(kNcclPhase)) << message;
    EXPECT_NE(searched(message) & bit(kNcclPhase), 0u) << message;
    EXPECT_FALSE(has_shape(message + "gpu-1:1:2 [0] NCCL INFO Connected all trees")) << message;
  }
  EXPECT_FALSE(has_shape("Using network IB"));
}

}  // namespace
}  // namespace unhang::formats::log
