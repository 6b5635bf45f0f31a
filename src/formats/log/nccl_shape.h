// SPDX-License-Identifier: Apache-2.0
//
// The messages of NCCL that make up most of a log: one or two for every collective, and those of channels.
// Which keywords stand in them follows from how they are made, without a search. What differs in a single
// byte has no such shape and is searched like anything else.
#pragma once

#include <optional>
#include <string_view>

#include "formats/log/communicator_line.h"
#include "formats/log/keyword_owners.h"

namespace unhang::formats::log {

// Those keywords of a message behind "NCCL INFO " of which the family of NCCL makes something; nullopt: to be
// searched. `call` is filled where it is a collective.
std::optional<KeywordBits> keywords_of_shape(std::string_view message, CallLine& call);

}  // namespace unhang::formats::log
