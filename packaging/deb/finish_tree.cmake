# SPDX-License-Identifier: Apache-2.0
# Run by cpack on the installed tree, just before it becomes a .deb: what Debian wants and `cmake --install` does not do.
set(root "${CPACK_TEMPORARY_DIRECTORY}/usr")
set(doc "${root}/share/doc/unhang")

# Policy 12.1: manual pages are compressed. -n keeps the time out, so that the same input gives the same bytes.
file(GLOB pages "${root}/share/man/man*/*[0-9]")
if(NOT pages)
  message(FATAL_ERROR "no manual pages in ${root}")
endif()
execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)

# Policy 12.5, 12.7: the licence is called copyright, the changelog is compressed.
configure_file("${CMAKE_CURRENT_LIST_DIR}/copyright" "${doc}/copyright" COPYONLY)
file(REMOVE "${doc}/LICENSE")
file(RENAME "${doc}/CHANGELOG.md" "${doc}/changelog")
execute_process(COMMAND gzip -9nf "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
