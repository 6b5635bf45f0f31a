// SPDX-License-Identifier: Apache-2.0
//
// Names of the system calls in which threads wait.
#pragma once

#include <string>

namespace unhang::os {

// "futex", by the numbers of the machine that this was built for; "system call 333" for one that is not on
// the list.
std::string system_call_name(long number);

}  // namespace unhang::os
