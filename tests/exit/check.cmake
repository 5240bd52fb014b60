# Variables: PROGRAM, CASE.
execute_process(COMMAND ${PROGRAM} ${CASE} RESULT_VARIABLE _result OUTPUT_VARIABLE _out ERROR_VARIABLE _err TIMEOUT 100)
if(NOT _result EQUAL 0 OR NOT _err STREQUAL "")
  message(FATAL_ERROR "${CASE}: status ${_result}\nstandard output:\n${_out}\nstandard error:\n${_err}")
endif()
