// SPDX-License-Identifier: Apache-2.0
#include "model/vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

namespace unhang::model {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would make equal values differ");
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string_view bytes_of(std::span<const FrameId> stack) {
  return {reinterpret_cast<const char*>(stack.data()), stack.size_bytes()};
}

// Packed copies of the values, as keys without padding.
struct SignatureKey {
  std::array<std::uint32_t, 10> words;
};

struct NamedKind {
  std::string_view name;
  OpKind kind;
};

// Names as PyTorch's backends record them (torch 1.13 to 2.14, gloo, nccl, nccl2, the recorder's hook).
constexpr NamedKind kKinds[] = {
    {"all_reduce", OpKind::kAllReduce},
    {"allreduce", OpKind::kAllReduce},
    {"allreduce_coalesced", OpKind::kAllReduce},
    {"all_reduce_sparse", OpKind::kAllReduce},
    {"sparse_all_reduce", OpKind::kAllReduce},
    {"all_reduce_barrier", OpKind::kBarrier},
    {"barrier", OpKind::kBarrier},
    {"all_gather", OpKind::kAllGather},
    {"allgather", OpKind::kAllGather},
    {"_all_gather_base", OpKind::kAllGather},
    {"_allgather_base", OpKind::kAllGather},
    {"all_gather_single", OpKind::kAllGather},
    {"all_gather_v", OpKind::kAllGather},
    {"all_gather_into_tensor_coalesced", OpKind::kAllGather},
    {"reduce_scatter", OpKind::kReduceScatter},
    {"_reduce_scatter_base", OpKind::kReduceScatter},
    {"reduce_scatter_single", OpKind::kReduceScatter},
    {"reduce_scatter_tensor_coalesced", OpKind::kReduceScatter},
    {"broadcast", OpKind::kBroadcast},
    {"_broadcast_oop", OpKind::kBroadcast},
    {"reduce", OpKind::kReduce},
    {"_reduce_oop", OpKind::kReduce},
    {"gather", OpKind::kGather},
    {"scatter", OpKind::kScatter},
    {"all_to_all", OpKind::kAllToAll},
    {"alltoall", OpKind::kAllToAll},
    {"alltoall_base", OpKind::kAllToAll},
    {"all_to_all_single", OpKind::kAllToAll},
    {"all_to_all_v_single", OpKind::kAllToAll},
    {"send", OpKind::kSend},
    {"recv", OpKind::kRecv},
    {"recv_anysource", OpKind::kRecv},
    {"coalesced", OpKind::kCoalesced},
    {"ALLGATHER_coalesced", OpKind::kCoalesced},
    {"REDUCE_SCATTER_coalesced", OpKind::kCoalesced},
};

OpKind kind_of(std::string_view name) {
  for (const NamedKind& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return OpKind::kOther;
}

bool parse_peers(std::string_view text, std::string_view arrow, ProfilingName& out) {
  const std::size_t at = text.find(arrow);
  if (at == std::string_view::npos) return false;
  const std::string_view left = text.substr(0, at);
  const std::string_view right = text.substr(at + arrow.size());
  std::int32_t self = -1;
  std::int32_t peer = -1;
  const auto a = std::from_chars(left.data(), left.data() + left.size(), self);
  const auto b = std::from_chars(right.data(), right.data() + right.size(), peer);
  if (a.ec != std::errc{} || a.ptr != left.data() + left.size()) return false;
  if (b.ec != std::errc{} || b.ptr != right.data() + right.size()) return false;
  if (self < 0 || peer < 0) return false;
  out.self = self;
  out.peer = peer;
  return true;
}

}  // namespace

ProfilingName split_profiling_name(std::string_view text) {
  ProfilingName out;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    out.backend = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const std::size_t space = text.find(' ');
  out.name = text;
  if (space != std::string_view::npos) {
    const std::string_view peers = text.substr(space + 1);
    if (parse_peers(peers, "->", out) || parse_peers(peers, "<-", out)) out.name = text.substr(0, space);
  }
  out.kind = kind_of(out.name);
  return out;
}

std::string_view op_kind_name(OpKind kind) {
  switch (kind) {
    case OpKind::kAllReduce:
      return "all_reduce";
    case OpKind::kAllGather:
      return "all_gather";
    case OpKind::kReduceScatter:
      return "reduce_scatter";
    case OpKind::kBroadcast:
      return "broadcast";
    case OpKind::kReduce:
      return "reduce";
    case OpKind::kGather:
      return "gather";
    case OpKind::kScatter:
      return "scatter";
    case OpKind::kAllToAll:
      return "all_to_all";
    case OpKind::kBarrier:
      return "barrier";
    case OpKind::kSend:
      return "send";
    case OpKind::kRecv:
      return "recv";
    case OpKind::kCoalesced:
      return "coalesced";
    case OpKind::kOther:
      return "other";
  }
  return "other";
}

Vocabulary::Vocabulary() {
  intern(Signature{});
  intern_stack({});
}

SignatureId Vocabulary::intern(const Signature& s) {
  const SignatureKey key{{s.profiling_name, s.backend, s.name, static_cast<std::uint32_t>(s.kind),
                          static_cast<std::uint32_t>(s.self), static_cast<std::uint32_t>(s.peer),
                          s.input_shapes, s.output_shapes, s.input_dtypes, s.output_dtypes}};
  return x_signature_ids.add(bytes_of(key), [&] { x_signatures.push_back(s); });
}

FrameId Vocabulary::intern(const Frame& frame) {
  const std::array<std::int64_t, 2> key{(std::int64_t{frame.function} << 32) | frame.file, frame.line};
  return x_frame_ids.add(bytes_of(key), [&] { x_frames.push_back(frame); });
}

StackId Vocabulary::intern_stack(std::span<const FrameId> innermost_first) {
  return x_stack_ids.add(bytes_of(innermost_first),
                         [&] { x_stacks.emplace_back(innermost_first.begin(), innermost_first.end()); });
}

namespace {

// The id at `index` of the last remap when it names the wanted value, else what `find` gives.
template <class Id, class Same, class Find>
void map_next(std::vector<Id>& out, const std::vector<Id>& last, Same&& same, Find&& find) {
  const std::size_t index = out.size();
  if (index < last.size() && same(last[index])) {
    out.push_back(last[index]);
  } else {
    out.push_back(find());
  }
}

}  // namespace

Vocabulary::Remap Vocabulary::absorb(const Vocabulary& other) {
  Remap remap;
  remap.symbols.reserve(other.symbols.size());
  for (SymbolId id = 0; id < other.symbols.size(); ++id) {
    const std::string_view text_there = other.text(id);
    map_next(
        remap.symbols, x_last.symbols, [&](SymbolId here) { return text(here) == text_there; },
        [&] { return symbols.intern(text_there); });
  }
  remap.shapes.reserve(other.shapes.size());
  for (ShapesId id = 0; id < other.shapes.size(); ++id) {
    const auto list = other.shapes.encoded(id);
    map_next(
        remap.shapes, x_last.shapes,
        [&](ShapesId here) { return std::ranges::equal(shapes.encoded(here), list); },
        [&] { return shapes.intern(list); });
  }
  remap.signatures.reserve(other.x_signatures.size());
  for (Signature s : other.x_signatures) {
    s.profiling_name = remap.symbols[s.profiling_name];
    s.backend = remap.symbols[s.backend];
    s.name = remap.symbols[s.name];
    s.input_shapes = remap.shapes[s.input_shapes];
    s.output_shapes = remap.shapes[s.output_shapes];
    s.input_dtypes = remap.symbols[s.input_dtypes];
    s.output_dtypes = remap.symbols[s.output_dtypes];
    map_next(
        remap.signatures, x_last.signatures, [&](SignatureId here) { return x_signatures[here] == s; },
        [&] { return intern(s); });
  }
  remap.frames.reserve(other.x_frames.size());
  for (Frame f : other.x_frames) {
    f.function = remap.symbols[f.function];
    f.file = remap.symbols[f.file];
    map_next(
        remap.frames, x_last.frames, [&](FrameId here) { return x_frames[here] == f; },
        [&] { return intern(f); });
  }
  remap.stacks.reserve(other.x_stacks.size());
  std::vector<FrameId> stack;
  for (const auto& theirs : other.x_stacks) {
    stack.clear();
    for (const FrameId id : theirs) stack.push_back(remap.frames[id]);
    map_next(
        remap.stacks, x_last.stacks, [&](StackId here) { return x_stacks[here] == stack; },
        [&] { return intern_stack(stack); });
  }
  x_last = remap;
  return remap;
}

}  // namespace unhang::model
