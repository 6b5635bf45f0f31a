// SPDX-License-Identifier: Apache-2.0
//
// Addresses and device identities that are known by how they look: IPv4, IPv6, MAC, InfiniBand GUID, UUID of
// a GPU. Part of base/anonymous_names.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/pseudonym.h"

namespace unhang::base {

struct AddressShape {
  std::size_t end = 0;  // behind its last byte; 0: none begins here
  NameKind kind = NameKind::kAddress;
  std::string canonical;      // the same for every spelling of it
  bool names_nobody = false;  // loopback, 0.0.0.0, a netmask
};

// The one that begins at text[at], where no letter or digit stands in front of it. Ports, zones ("%eth0"),
// prefix lengths and brackets are no part of it. Numbers in four parts that the text calls a version, or
// that stand in the name of a library, are no address. Numbers of 64 bits are GUIDs behind "guid", "gid" or
// "sys image" only; eight digits with ':' and four are an address where two of them stand side by side, as in
// /proc/net/tcp. Looks at no more than 200 bytes.
AddressShape address_at(std::string_view text, std::size_t at);

}  // namespace unhang::base
