// SPDX-License-Identifier: Apache-2.0
//
// A verdict as `unhang diagnose --json` wrote it (schema unhang.verdict/1): history, and no evidence of the
// incident that is looked at now. A later number of the schema is read as far as its keys are known; nothing
// in it is trusted beyond its shape.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/evidence.h"
#include "model/earlier_verdict.h"

namespace unhang::formats::verdict_document {

bool sniff(std::string_view bytes);

// Fails, with kData and words for people, where the bytes are no verdict.
base::Result<model::EarlierVerdict> read_verdict(std::string path, std::string_view bytes);

// Among evidence it is passed over, with a note: what it quotes is not evidence a second time.
void parse(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::verdict_document
