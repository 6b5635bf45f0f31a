// SPDX-License-Identifier: Apache-2.0
//
// Whether an address belongs to this machine.
#pragma once

#include "net/address.h"

namespace unhang::net {

// As seen from this network namespace: loopback, any (0.0.0.0), or an address of one of its interfaces.
// Nothing is sent.
bool is_local(const SocketAddress& address);

}  // namespace unhang::net
