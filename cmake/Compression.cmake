# SPDX-License-Identifier: Apache-2.0
# unhang_compression: the four libraries that src/os/codecs.cc calls. libarchive needs the same ones, so they add nothing to
# what is installed or carried along (cmake/Libarchive.cmake). Debian: zlib1g-dev libzstd-dev liblzma-dev libbz2-dev.
add_library(unhang_compression INTERFACE)
foreach(name z zstd lzma bz2)
  find_library(COMPRESSION_${name} NAMES ${name} REQUIRED)
  mark_as_advanced(COMPRESSION_${name})
  target_link_libraries(unhang_compression INTERFACE ${COMPRESSION_${name}})
endforeach()
