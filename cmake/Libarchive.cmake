# SPDX-License-Identifier: Apache-2.0
# unhang_libarchive: libarchive as src/os/ links it.
#
# Debian's libarchive.so.13 needs GLIBC_2.36 (arc4random_buf) and drags in ICU (30 MB) for formats that we do not read. The
# relocatable tarball (UNHANG_PORTABLE) must run where glibc is 2.35, so there libarchive is linked statically: only the
# readers that src/os/ names end up in the binary, and none of them needs a symbol newer than GLIBC_2.34. The compression
# libraries stay shared and are carried along (cmake/Install.cmake).
find_package(LibArchive REQUIRED)
add_library(unhang_libarchive INTERFACE)
if(UNHANG_PORTABLE)
  find_library(LIBARCHIVE_STATIC NAMES libarchive.a REQUIRED)
  target_include_directories(unhang_libarchive SYSTEM INTERFACE ${LibArchive_INCLUDE_DIRS})
  target_link_libraries(unhang_libarchive INTERFACE ${LIBARCHIVE_STATIC} unhang_compression unhang_nettle) # nettle: ciphers of zip
else()
  target_link_libraries(unhang_libarchive INTERFACE LibArchive::LibArchive)
endif()
