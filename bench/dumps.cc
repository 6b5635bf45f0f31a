// SPDX-License-Identifier: Apache-2.0
//
// Writes the dumps that the benchmarks read: N ranks x M entries with F frames each, the last world operation
// missing on the middle rank; one group, or world + tensor-parallel + data-parallel groups in turn.
//
//   bench_dumps DIR RANKS ENTRIES FRAMES [TP]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "os/write_file.h"
#include "simulate/dump_writer.h"

namespace {

using namespace unhang;
using simulate::RecordedCall;
using simulate::RecordedDump;
using simulate::RecordedEntry;

struct Shape {
  std::int32_t ranks, entries, frames, tp;
};

struct Group {
  std::string name, description;
  std::vector<std::int32_t> ranks;
};

std::vector<Group> groups_of(std::int32_t rank, const Shape& shape) {
  std::vector<Group> out(1);
  out[0] = {"0", "default_pg", {}};
  for (std::int32_t r = 0; r < shape.ranks; ++r) out[0].ranks.push_back(r);
  if (shape.tp == 0) return out;
  const std::int32_t block = rank / shape.tp;
  const std::int32_t column = rank % shape.tp;
  out.push_back({std::to_string(1 + block), "tp", {}});
  for (std::int32_t r = block * shape.tp; r < (block + 1) * shape.tp; ++r) out[1].ranks.push_back(r);
  out.push_back({std::to_string(1 + shape.ranks / shape.tp + column), "dp", {}});
  for (std::int32_t r = column; r < shape.ranks; r += shape.tp) out[2].ranks.push_back(r);
  return out;
}

// The four calls in turn; sizes depend on the group's size as they do in a job.
void add_calls(RecordedDump& dump, std::size_t members) {
  const auto elements = static_cast<std::int64_t>(1024 * members);
  for (const auto& [name, in, out] :
       std::vector<std::tuple<const char*, std::vector<std::int64_t>, std::vector<std::int64_t>>>{
           {"nccl:all_reduce", {4096}, {4096}},
           {"nccl:_all_gather_base", {1024}, {elements}},
           {"nccl:_reduce_scatter_base", {elements}, {1024}},
           {"nccl:broadcast", {512, 512}, {512, 512}}}) {
    dump.calls.push_back(RecordedCall{name, {in}, {"Float"}, {out}, {"Float"}, false});
  }
}

RecordedDump make_dump(std::int32_t rank, const Shape& shape) {
  constexpr std::uint32_t kStacks = 40;
  constexpr std::int64_t kStart = 1'795'960'000'000'000'000;
  RecordedDump dump;
  dump.comm_lib_version = "2.27.5";
  for (std::uint32_t s = 0; s < kStacks; ++s) {
    dump.stacks.emplace_back();
    for (std::int32_t f = 0; f < shape.frames; ++f) {
      dump.stacks.back().push_back(static_cast<std::uint32_t>(dump.frames.size()));
      dump.frames.push_back({"fn_" + std::to_string(s) + "_" + std::to_string(f),
                             "/opt/train/module_" + std::to_string(f) + ".py", 10 * s + f});
    }
  }
  const auto groups = groups_of(rank, shape);
  for (const Group& group : groups) {
    const auto id = static_cast<std::int64_t>(dump.groups.size());
    dump.groups.push_back({id, group.name, group.description});
    dump.config.push_back({group.name, group.description, group.ranks});
    add_calls(dump, group.ranks.size());
  }
  std::vector<std::int64_t> sequence(groups.size(), 0);
  std::vector<std::int64_t> done(groups.size(), 0);
  const std::size_t last =
      (static_cast<std::size_t>(shape.entries) - 1) / groups.size() * groups.size();  // of the world
  for (std::size_t i = 0; i <= last; ++i) {
    if (i == last && rank == shape.ranks / 2) break;
    const std::size_t group = i % groups.size();
    RecordedEntry entry;
    entry.stack = shape.frames > 0 ? static_cast<std::int32_t>(i % kStacks) : RecordedEntry::kNoStack;
    entry.group = static_cast<std::uint32_t>(group);
    entry.call = static_cast<std::uint32_t>(group * 4 + i / groups.size() % 4);
    entry.record_id = static_cast<std::int64_t>(i);
    entry.collective_sequence = entry.op_id = ++sequence[group];
    entry.created_ns = kStart + static_cast<std::int64_t>(i) * 3'000'000 + rank * 1'000;
    if (i != last) {
      entry.state = simulate::RecordedState::kCompleted;
      entry.retired = true;
      entry.completed_ns = entry.created_ns + 900'000;
      done[group] = sequence[group];
    }
    dump.entries.push_back(entry);
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    dump.status.push_back({static_cast<std::int64_t>(g), sequence[g], -1, done[g]});
  return dump;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: bench_dumps DIR RANKS ENTRIES FRAMES [TP]\n");
    return 64;
  }
  const std::string folder = argv[1];
  const Shape shape{std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                    argc > 5 ? std::atoi(argv[5]) : 0};
  if (shape.ranks < 2 || shape.entries < 3 || shape.frames < 0 || shape.tp < 0 ||
      (shape.tp > 0 && shape.ranks % shape.tp != 0)) {
    std::fprintf(stderr, "bench_dumps: RANKS >= 2, ENTRIES >= 3, FRAMES >= 0, TP divides RANKS\n");
    return 64;
  }
  if (const auto made = os::make_folder(folder); !made) {
    std::fprintf(stderr, "bench_dumps: %s\n", made.error().message.c_str());
    return 74;
  }
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    const auto written = os::write_file(folder + "/nccl_trace_rank_" + std::to_string(rank),
                                        simulate::write_pickle(make_dump(rank, shape)));
    if (written) continue;
    std::fprintf(stderr, "bench_dumps: %s\n", written.error().message.c_str());
    return 74;
  }
  return 0;
}
