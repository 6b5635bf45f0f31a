// SPDX-License-Identifier: Apache-2.0
//
// On which host a file was written, where only its path says so: "node03/dmesg.txt", "kern-gpu-b07.log".
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace unhang::join {

// The longest name of `known` that stands in the path by itself, in the innermost part that has one. Empty:
// none does, or several of that length. Only names that other evidence gives count: a folder called "logs" is
// no host. Addresses count, too.
std::string host_in_path(std::string_view path, const std::set<std::string, std::less<>>& known);

}  // namespace unhang::join
