# SPDX-License-Identifier: Apache-2.0
# Target unhang_libarchive: libarchive (tar and zip) and the decompression libraries that src/os uses.
#
# With UNHANG_STATIC_DEPS the static archives are linked, so that the binary runs where these libraries are not installed.
# A static libarchive gives only the objects that are used: no libxml2, libacl or liblz4. nettle is pulled in by the zip
# reader (encryption). Off, or when one of them is missing: the shared libraries.
#
# Debian: libarchive-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev, and nettle-dev for the static case.
option(UNHANG_STATIC_DEPS "Link libarchive and the decompression libraries statically where possible" ON)

add_library(unhang_libarchive INTERFACE)
find_path(UNHANG_ARCHIVE_INCLUDE archive.h REQUIRED)
target_include_directories(unhang_libarchive SYSTEM INTERFACE ${UNHANG_ARCHIVE_INCLUDE})

set(unhang_static_archives "")
if(UNHANG_STATIC_DEPS)
  # The order matters to the linker: who uses comes before who is used.
  foreach(name archive lzma bz2 zstd z nettle)
    find_library(UNHANG_STATIC_${name} NAMES lib${name}.a)
    mark_as_advanced(UNHANG_STATIC_${name})
    if(UNHANG_STATIC_${name})
      list(APPEND unhang_static_archives ${UNHANG_STATIC_${name}})
    else()
      message(STATUS "lib${name}.a is missing: libarchive and its libraries are linked dynamically")
      set(unhang_static_archives "")
      break()
    endif()
  endforeach()
endif()

# A libarchive of another make may need more (OpenSSL, mbed TLS): only a link can tell.
if(unhang_static_archives)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${UNHANG_ARCHIVE_INCLUDE})
  set(CMAKE_REQUIRED_LIBRARIES ${unhang_static_archives})
  check_cxx_source_compiles("
    #include <archive.h>
    int main() {
      archive* a = archive_read_new();
      archive_read_support_format_tar(a);
      archive_read_support_format_zip_seekable(a);
      archive_read_support_format_zip_streamable(a);
      return archive_read_free(a);
    }" UNHANG_STATIC_ARCHIVE_LINKS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()

if(unhang_static_archives AND UNHANG_STATIC_ARCHIVE_LINKS)
  target_link_libraries(unhang_libarchive INTERFACE ${unhang_static_archives})
else()
  foreach(name archive lzma bz2 zstd z)
    find_library(UNHANG_SHARED_${name} NAMES ${name} REQUIRED)
    mark_as_advanced(UNHANG_SHARED_${name})
    target_link_libraries(unhang_libarchive INTERFACE ${UNHANG_SHARED_${name}})
  endforeach()
endif()
