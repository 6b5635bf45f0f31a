// SPDX-License-Identifier: Apache-2.0
//
// Coalesced blocks: since schema 2.7 each operation inside a batch has an entry of its own, whose state never
// changes, and a closing entry ("coalesced", "ALLGATHER_coalesced" …, without sizes) that carries the state
// of all. Only the closing entry counts for order and state; this marks who is who.
#pragma once

#include "model/dump.h"

namespace unhang::formats::flight_recorder {

// Sets kClosing and kInner on the operations of `dump`. Linear in the number of operations.
void mark_coalesced_blocks(model::Dump& dump);

}  // namespace unhang::formats::flight_recorder
