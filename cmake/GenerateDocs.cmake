# SPDX-License-Identifier: Apache-2.0
# cmake -DUNHANG=program -DOUT=folder -P GenerateDocs.cmake: man pages and completions, printed by the program.
file(REMOVE_RECURSE ${OUT}/man1 ${OUT}/completions)
file(MAKE_DIRECTORY ${OUT}/man1 ${OUT}/completions)
execute_process(COMMAND ${UNHANG} man --directory ${OUT}/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(pair bash=unhang.bash zsh=_unhang fish=unhang.fish)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 shell)
  list(GET pair 1 file)
  execute_process(COMMAND ${UNHANG} completion ${shell} OUTPUT_FILE ${OUT}/completions/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
