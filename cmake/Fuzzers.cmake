# SPDX-License-Identifier: Apache-2.0
# Fuzzers (preset fuzz, clang only): tests/fuzz/NAME_fuzz.cc becomes fuzz_NAME, with NAME.dict and seeds/NAME beside it where
# there are such. scripts/fuzz runs them. The target `fuzzers` builds all.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "UNHANG_FUZZ needs clang: cmake --preset fuzz")
endif()
# The whole program is instrumented, but only the fuzzers have libFuzzer's main.
target_compile_options(unhang_options INTERFACE -fsanitize=fuzzer-no-link)
add_custom_target(fuzzers)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cc)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(fuzz_${name} PRIVATE unhang_join unhang_detect)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})
endforeach()
