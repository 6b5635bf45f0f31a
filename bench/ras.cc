// SPDX-License-Identifier: Apache-2.0
//
// A RAS answer of a large job, as NCCL 2.30 prints it: one rank of the first communicator lags, one
// process of the last has died.
//
//   bench_ras write FILE COMMUNICATORS RANKS   makes it
//   bench_ras read FILE                        reads it, without what comes after, and says how long that
//   took
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "formats/catalogue.h"
#include "os/write_file.h"

namespace {

using namespace unhang;

struct Place {
  int process, device;
};

void add_identity(std::string& out, int rank, Place place) {
  out += fmt::format(
      "        {{\n          \"rank\": {},\n          \"host\": \"10.1.{}.{}\",\n          \"pid\": {},\n"
      "          \"cuda_dev\": {},\n          \"nvml_dev\": {},\n",
      rank, place.process / 8 / 250, place.process / 8 % 250 + 1, 100'000 + place.process, place.device,
      place.device);
}

void add_rank(std::string& out, int rank, int count) {
  add_identity(out, rank, {rank, rank % 8});
  out += fmt::format(
      "          \"status\": {{\n            \"init_state\": 0,\n            \"async_error\": 0,\n"
      "            \"finalize_called\": false,\n            \"destroy_flag\": false,\n"
      "            \"abort_flag\": false\n          }},\n          \"collective_counts\": {{\n"
      "            \"Broadcast\": 12,\n            \"Reduce\": 0,\n            \"AllGather\": 2340,\n"
      "            \"ReduceScatter\": 2340,\n            \"AllReduce\": {}\n          }}\n        }}",
      count);
}

void add_communicator(std::string& out, int index, int communicators, int ranks) {
  const bool last = index + 1 == communicators;
  const int present = last ? ranks - 1 : ranks;
  out += fmt::format(
      "    {{\n      \"hash\": \"0x{:x}\",\n      \"secondary_hash\": "
      "\"0x2e7ba94215122580:0x8d5abde841a33a33\",\n"
      "      \"size\": {},\n      \"ranks_count\": {},\n      \"missing_ranks_count\": {},\n      \"ranks\": "
      "[\n",
      0x634a4b09acc8e46 + 0x1000003u * static_cast<unsigned>(index), ranks, present, ranks - present);
  for (int rank = 0; rank < present; ++rank) {
    add_rank(out, rank, index == 0 && rank == ranks / 2 ? 98'764 : 98'765);
    out += rank + 1 < present ? ",\n" : "\n";
  }
  out += "      ],\n      \"missing_ranks\": [\n";
  if (last) {
    add_identity(out, ranks - 1, {ranks - 1, (ranks - 1) % 8});
    out +=
        "          \"status\": {\n            \"unresponsive\": true,\n            \"considered_dead\": "
        "true\n"
        "          }\n        }\n      ]\n    }\n";
  } else {
    out += "\n      ]\n    },\n";
  }
}

std::string answer(int communicators, int ranks) {
  std::string out = fmt::format(
      "{{\n  \"nccl_version\": \"2.30.7\",\n  \"cuda_runtime_version\": 12080,\n  \"cuda_driver_version\": "
      "12080,\n"
      "  \"timestamp\": \"2026-11-29 15:01:29\",\n  \"communicators_count\": {},\n  \"communicators\": [\n",
      communicators);
  for (int i = 0; i < communicators; ++i) add_communicator(out, i, communicators, ranks);
  return out + "  ],\n  \"ras\": {\n    \"collection_time_sec\": 0.214,\n    \"timeouts_count\": 0\n  }\n}\n";
}

int read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto begin = std::chrono::steady_clock::now();
  const formats::Evidence evidence = formats::read_evidence(path, bytes);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::size_t ranks = 0;
  for (const auto& answer : evidence.ras_answers) {
    for (const auto& communicator : answer.communicators) ranks += communicator.ranks.size();
  }
  std::printf("%zu answers, %zu ranks, %zu problems, %.2f ms\n", evidence.ras_answers.size(), ranks,
              evidence.problems.size(), took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "read" && argc == 3) return read(argv[2]);
  const int communicators = argc == 5 ? std::atoi(argv[3]) : 0;
  const int ranks = argc == 5 ? std::atoi(argv[4]) : 0;
  if (what != "write" || communicators < 1 || ranks < 2) {
    std::fprintf(stderr, "usage: bench_ras write FILE COMMUNICATORS RANKS | read FILE\n");
    return 64;
  }
  if (const auto written = os::write_file(argv[2], answer(communicators, ranks)); !written) {
    std::fprintf(stderr, "bench_ras: %s\n", written.error().message.c_str());
    return 74;
  }
  return 0;
}
