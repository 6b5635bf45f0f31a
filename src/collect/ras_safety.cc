// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_safety.h"

#include <array>

namespace unhang::collect {
namespace {

struct KnownBug {
  NcclRelease first, end;  // from `first` to before `end`
  RasPermission permission;
  const char* reason;
};

constexpr std::array kKnownBugs = {
    KnownBug{
        {2, 26, 0},
        {2, 27, 0},
        RasPermission::kNone,
        "asking while a communicator is being made can crash the process that answers (NVIDIA/nccl#1669, "
        "fixed in 2.27.3)"},
    KnownBug{
        {2, 27, 0},
        {2, 28, 7},
        RasPermission::kNone,
        "with two or more communicators and a missing rank, making the answer reads out of bounds and can "
        "crash the job (NVIDIA/nccl#1762, fixed in 2.29.2), and it has only text answers"},
    KnownBug{
        {2, 28, 7},
        {2, 29, 2},
        RasPermission::kJsonOnly,
        "with two or more communicators and a missing rank, making a text answer reads out of bounds and "
        "can crash the job (NVIDIA/nccl#1762, fixed in 2.29.2)"},
    KnownBug{{2, 29, 2},
             {2, 32, 0},
             RasPermission::kJsonOnly,
             "a text answer while communicators are being made can crash the job (NVIDIA/nccl#2346)"},
};

}  // namespace

RasSafety ras_safety(const std::optional<NcclRelease>& release) {
  if (!release) return {};
  for (const KnownBug& bug : kKnownBugs) {
    if (*release < bug.first || *release >= bug.end) continue;
    return {bug.permission, "NCCL " + release->text() + ": " + bug.reason};
  }
  return {};
}

bool has_ras(const NcclRelease& release) {
  return release >= NcclRelease{2, 24, 0};
}

}  // namespace unhang::collect
