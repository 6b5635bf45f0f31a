// SPDX-License-Identifier: Apache-2.0
//
// Writes a described dump as PyTorch's Flight Recorder would, byte for byte.
//
// The pickle follows torch::jit::Pickler: protocol 2, one object, strings memoised by value after their first
// use, dictionaries of frames memoised when at least two places share them, the root dictionary memoised at
// the end. The JSON form has its keys sorted, carries no frames, and turns the numbers of pg_status into
// strings.
//
// Pure functions. Every index in the description must be valid: a wrong one is a broken invariant, not an
// error.
#pragma once

#include <string>

#include "simulate/recorded_dump.h"

namespace unhang::simulate {

std::string write_pickle(const RecordedDump& dump);
std::string write_json(const RecordedDump& dump);

}  // namespace unhang::simulate
