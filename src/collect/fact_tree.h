// SPDX-License-Identifier: Apache-2.0
//
// Folders of small files with one value each, as /sys has them: listed and read in few turns, in a child that
// can be abandoned.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collect/source_tally.h"
#include "os/child_reader.h"

namespace unhang::collect {

// The names in a folder, ascending; empty where there is none. At most `most`.
std::vector<std::string> names_in_folder(const std::string& path, std::size_t most, SourceTally& tally);

// What each file holds, without white space around it. Files that are not there or cannot be read are not in
// it: a port that is down refuses to tell its speed. Of refusals one is noted.
std::map<std::string, std::string> read_values(const std::vector<std::string>& paths, SourceTally& tally);

// Names of a listing of os::ReadKind::kFolder, ascending.
std::vector<std::string> names_of_listing(std::string_view listing);

std::string_view without_space_around(std::string_view text);

}  // namespace unhang::collect
