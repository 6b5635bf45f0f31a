// SPDX-License-Identifier: Apache-2.0
//
// What Ray, Kubernetes, systemd and process wrappers (shell, DeepSpeed, multiprocessing) say of the ends of
// processes, actors, pods and nodes.
#pragma once

#include "formats/log/facts.h"

namespace unhang::formats::log {

bool take_ray(const Line& line, Facts& facts);
bool take_kubernetes(const Line& line, Facts& facts);
// systemd, shells, DeepSpeed's launcher, Python's multiprocessing and subprocess.
bool take_process_end(const Line& line, Facts& facts);

}  // namespace unhang::formats::log
