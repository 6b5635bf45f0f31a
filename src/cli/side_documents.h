// SPDX-License-Identifier: Apache-2.0
//
// What lies in a folder beside the evidence and is none, though it is text: the README of a case, a document
// in JSON that says what is known of it. Lines of logs may be quoted in either.
#pragma once

#include <optional>
#include <string_view>

namespace unhang::cli {

// Why the file is no log, in a few words. `first`: its first bytes. A document in JSON is one value over
// several lines; JSON lines, each a value, are a log.
std::optional<std::string_view> why_no_log(std::string_view path, std::string_view first);

// Whether `first` begins a document in JSON.
bool is_json_document(std::string_view first);

}  // namespace unhang::cli
