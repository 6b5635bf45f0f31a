# SPDX-License-Identifier: Apache-2.0
# Part of the installation of the tarball: the licence of each library that it carries, as Debian states it.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(packages libarchive13) # linked into the program
file(GLOB carried RELATIVE "${root}/lib/unhang" "${root}/lib/unhang/*")
foreach(library ${carried})
  execute_process(COMMAND dpkg-query -S "*/${library}" OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "no package owns ${library}: its licence cannot be stated")
  endif()
  string(REGEX REPLACE "[:,].*" "" package "${owner}")
  list(APPEND packages ${package})
endforeach()
list(REMOVE_DUPLICATES packages)
file(REMOVE_RECURSE "${root}/share/doc/unhang/third-party")
foreach(package ${packages})
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/share/doc/unhang/third-party" TYPE FILE
       FILES "/usr/share/doc/${package}/copyright" RENAME "${package}.txt")
endforeach()
