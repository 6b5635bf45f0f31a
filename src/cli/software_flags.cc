// SPDX-License-Identifier: Apache-2.0
#include "cli/software_flags.h"

#include "base/printable.h"

namespace unhang::cli {
namespace {

base::Result<checks::Release> release_of(const std::string& flag, const std::string& text) {
  if (const auto release = checks::parse_release(text)) return *release;
  return base::fail(base::ErrorCode::kUsage, "flag " + flag + ": '" + base::printable(text) +
                                                 "' is no release (they look like 2.28.9)");
}

}  // namespace

std::vector<Flag> software_flags(SoftwareFlags& flags) {
  const checks::Software newest;
  return {{.name = "--nccl-version",
           .value = "RELEASE",
           .help = "of NCCL; " + newest.nccl.text() + " where it is not given",
           .target = &flags.nccl,
           .group = "Releases"},
          {.name = "--torch-version",
           .value = "RELEASE",
           .help = "of PyTorch; " + newest.torch.text() + " where it is not given",
           .target = &flags.torch,
           .group = "Releases"},
          {.name = "--engine",
           .value = "NAME",
           .help = "what serves the model",
           .target = &flags.engine,
           .choices = {"none", "vllm", "sglang", "trtllm"},
           .group = "Releases"},
          {.name = "--engine-version",
           .value = "RELEASE",
           .help = "of the engine",
           .target = &flags.engine_release,
           .group = "Releases"}};
}

base::Result<checks::Software> software_of(const SoftwareFlags& flags) {
  checks::Software software;
  if (flags.nccl) {
    const auto release = release_of("--nccl-version", *flags.nccl);
    if (!release) return base::fail(release.error());
    software.nccl = *release;
    software.nccl_assumed = false;
  }
  if (flags.torch) {
    const auto release = release_of("--torch-version", *flags.torch);
    if (!release) return base::fail(release.error());
    software.torch = *release;
    software.torch_assumed = false;
  }
  software.engine = checks::parse_engine(flags.engine).value_or(checks::Engine::kNone);
  software.engine_assumed = flags.engine.empty();
  if (flags.engine_release) {
    const auto release = release_of("--engine-version", *flags.engine_release);
    if (!release) return base::fail(release.error());
    software.engine_release = *release;
  }
  return software;
}

}  // namespace unhang::cli
