# Variables: PROGRAM, CASE.
execute_process(COMMAND ${PROGRAM} ${CASE} RESULT_VARIABLE _result OUTPUT_VARIABLE _out ERROR_VARIABLE _err TIMEOUT 100)
# LeakSanitizer's own remark in a forked child, which has fewer threads than its parent; no report of a leak.
string(REGEX REPLACE "==[0-9]+==Running thread [0-9]+ was not suspended. False leaks are possible.\n" "" _err "${_err}")
if(NOT _result EQUAL 0 OR NOT _err STREQUAL "")
  message(FATAL_ERROR "${CASE}: status ${_result}\nstandard output:\n${_out}\nstandard error:\n${_err}")
endif()
