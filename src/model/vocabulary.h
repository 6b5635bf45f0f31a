// SPDX-License-Identifier: Apache-2.0
//
// What operations have in common, kept once: names, signatures (what was called on what), source frames and
// stacks. Each dump is parsed into a vocabulary of its own (no locks); join/ absorbs them into the Case's, in
// input order, so that ids do not depend on threads. Not thread-safe while adding, safe for any number of
// readers afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_index.h"
#include "base/symbol_table.h"
#include "model/operation.h"
#include "model/shape_table.h"

namespace unhang::model {

using SymbolId = base::SymbolTable::Id;

// What was called: two operations with the same signature are equal in all but time and place.
struct Signature {
  SymbolId profiling_name = 0;  // as recorded: "nccl:send 0->1"
  SymbolId backend = 0;         // "nccl"; empty when the name has no prefix
  SymbolId name = 0;            // "send": without backend and peers
  OpKind kind = OpKind::kOther;
  std::int32_t self = -1;  // point to point: rank inside the group that calls, and its peer; -1 if not said
  std::int32_t peer = -1;
  ShapesId input_shapes = 0;
  ShapesId output_shapes = 0;
  SymbolId input_dtypes = 0;  // "Float,Float": one per tensor
  SymbolId output_dtypes = 0;

  bool operator==(const Signature&) const = default;
};

struct Frame {
  SymbolId function = 0;
  SymbolId file = 0;
  std::int64_t line = 0;

  bool operator==(const Frame&) const = default;
};
using FrameId = std::uint32_t;

class Vocabulary {
 public:
  Vocabulary();

  base::SymbolTable symbols;
  ShapeTable shapes;

  SignatureId intern(const Signature& signature);
  FrameId intern(const Frame& frame);
  StackId intern_stack(std::span<const FrameId> innermost_first);

  const Signature& signature(SignatureId id) const { return x_signatures[id]; }
  const Frame& frame(FrameId id) const { return x_frames[id]; }
  std::span<const FrameId> stack(StackId id) const { return x_stacks[id]; }
  std::string_view text(SymbolId id) const { return symbols.text(id); }
  std::size_t signature_count() const { return x_signatures.size(); }

  // Where the ids of `other` are found here after absorbing it.
  struct Remap {
    std::vector<SymbolId> symbols;
    std::vector<ShapesId> shapes;
    std::vector<SignatureId> signatures;
    std::vector<FrameId> frames;
    std::vector<StackId> stacks;
  };
  // Ranks of one program have nearly the same vocabulary in the same order: what stood at the same place in
  // the one absorbed before is compared first, which saves most searches.
  Remap absorb(const Vocabulary& other);

 private:
  std::vector<Signature> x_signatures;
  std::vector<Frame> x_frames;
  std::deque<std::vector<FrameId>> x_stacks;
  Remap x_last;  // of the vocabulary absorbed before
  base::KeyIndex x_signature_ids, x_frame_ids, x_stack_ids;
};

// Splits "nccl:send 0->1" into backend, name, kind and peers. Names that are not known give kOther, never an
// error.
struct ProfilingName {
  std::string_view backend;
  std::string_view name;
  OpKind kind = OpKind::kOther;
  std::int32_t self = -1;
  std::int32_t peer = -1;
};
ProfilingName split_profiling_name(std::string_view text);

// "all_reduce", "send": the field's word for a kind.
std::string_view op_kind_name(OpKind kind);

}  // namespace unhang::model
