// SPDX-License-Identifier: Apache-2.0
//
// Our own document of what /proc tells of live processes: threads, wait channels, system calls and kernel
// stacks, without any tool installed. The writer and the reader of the form stand side by side here
// (docs/schema/process_state-1.json); captures write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/evidence.h"
#include "model/process_sample.h"

namespace unhang::formats::stacks {

// Ceilings of a document, far above any real node; what is beyond them is left out and counted.
inline constexpr std::size_t kMaxStateDocument = 256 << 20;
inline constexpr std::size_t kMaxStateThreads = 1 << 20;  // of all processes together

// The document (schema unhang.process_state/1) of the processes of one host, looked at at one time; an empty
// host and no time become null. Of a process and a thread everything is written but Python and native
// frames, which other tools give. Valid JSON whatever the texts hold.
std::string process_state_json(const std::vector<model::ProcessSample>& processes, std::string_view host,
                               std::optional<std::int64_t> taken_ns);

bool sniff_process_state(std::string_view bytes);

// Adds a sample for each process. Damaged JSON gives a problem and nothing else.
void parse_process_state(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::stacks
