# SPDX-License-Identifier: Apache-2.0
# CPack: a .deb from an ordinary build, a relocatable tarball from a build with UNHANG_PORTABLE. scripts/package runs both.
set(CPACK_PACKAGE_NAME unhang)
set(CPACK_PACKAGE_VENDOR "the unhang authors")
set(CPACK_PACKAGE_CONTACT "unhang maintainers <maintainers@unhang.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Reads what is left after a distributed GPU job hung (Flight Recorder
 dumps of PyTorch) and names the rank that held the others up, at which
 collective, why, and what to do about it.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
set(CPACK_PACKAGE_FILE_NAME "unhang-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR}")

if(UNHANG_PORTABLE)
  set(CPACK_GENERATOR TGZ)
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libcurl4) # loaded on demand, hence not seen by shlibdeps
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/deb/finish_tree.cmake)
endif()
include(CPack)
