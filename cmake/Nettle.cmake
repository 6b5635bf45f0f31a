# SPDX-License-Identifier: Apache-2.0
# unhang_nettle: SHA-256 for src/base/sha256.cc. The static libarchive of the tarball needs the same library for its zip reader
# (cmake/Libarchive.cmake). Debian: nettle-dev.
find_library(NETTLE NAMES nettle REQUIRED)
mark_as_advanced(NETTLE)
add_library(unhang_nettle INTERFACE)
target_link_libraries(unhang_nettle INTERFACE ${NETTLE})
