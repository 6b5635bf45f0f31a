# SPDX-License-Identifier: Apache-2.0
# A room of the house (ARCHITECTURE.md): one static library per folder of src/, its unit tests beside the code.
#
#   unhang_room(NAME join DEPS base model formats [LIBS libs...])
#
# DEPS are rooms; only their headers may be included (scripts/check_rooms.py enforces it on the source text).
if(UNHANG_TESTS)
  find_package(rapidcheck REQUIRED) # property tests
endif()

function(unhang_room)
  cmake_parse_arguments(ROOM "" "NAME" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${ROOM_NAME}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    add_library(unhang_${ROOM_NAME} INTERFACE)
    return()
  endif()
  add_library(unhang_${ROOM_NAME} STATIC ${sources})
  target_include_directories(unhang_${ROOM_NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(unhang_${ROOM_NAME} PRIVATE ${ROOM_LIBS} PUBLIC unhang_options)
  foreach(dep ${ROOM_DEPS})
    target_link_libraries(unhang_${ROOM_NAME} PUBLIC unhang_${dep})
  endforeach()
  if(UNHANG_TESTS AND tests)
    add_executable(${ROOM_NAME}_test ${tests})
    target_link_libraries(${ROOM_NAME}_test PRIVATE unhang_${ROOM_NAME} ${ROOM_LIBS} GTest::gtest_main rapidcheck)
    target_compile_definitions(${ROOM_NAME}_test PRIVATE UNHANG_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    # The macros of the test library take compilers long to optimise, and nobody waits for the tests themselves.
    target_compile_options(${ROOM_NAME}_test PRIVATE -O0)
    add_test(NAME unit.${ROOM_NAME} COMMAND ${ROOM_NAME}_test)
    set_tests_properties(unit.${ROOM_NAME} PROPERTIES LABELS unit TIMEOUT 300
                         ENVIRONMENT "RC_PARAMS=seed=1 max_success=200") # property tests: the same cases every time
  endif()
endfunction()
