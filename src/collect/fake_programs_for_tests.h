// SPDX-License-Identifier: Apache-2.0
//
// For tests only: programs made to order, in a folder that stands for $PATH.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "collect/capture_clocks_for_tests.h"
#include "collect/helper_programs.h"

namespace unhang::collect::fixture {

class FakePrograms : protected BundleFolder {
 protected:
  FakePrograms() { std::filesystem::create_directories(x_folder / "bin"); }

  // A shell script. Its own commands come from the usual folders.
  void program(const std::string& name, const std::string& script) const {
    const auto file = x_folder / "bin" / name;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  HelperPrograms programs() const { return {x_folder / "bin", -1}; }

  // What was kept as FOLDER/NUMBER-TIME-…ENDING; "(none)" where there is none, all together where several.
  std::string kept(const std::string& folder, const std::string& ending) const {
    std::string text;
    bool any = false;
    for (const auto& file : x_files) {
      if (!file.path.starts_with(folder + "/") || !file.path.ends_with(ending)) continue;
      any = true;
      text += content(x_bundle / file.path);
    }
    return any ? text : "(none)";
  }

  std::shared_ptr<CaptureNames> x_names = std::make_shared<CaptureNames>();
};

}  // namespace unhang::collect::fixture
