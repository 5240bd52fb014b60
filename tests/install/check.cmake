# Variables: BUILD, SOURCE, COMPILER, LAUNCHER, SANITIZE, CPU_DRIVER, GENERATOR, WORK.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE _result OUTPUT_VARIABLE _output ERROR_VARIABLE _output)
  if(NOT _result EQUAL 0)
    message(FATAL_ERROR "failed (${_result}): ${ARGN}\n${_output}")
  endif()
  set(output "${_output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component cucore)
set(_flags "")
if(SANITIZE STREQUAL "address")
  set(_flags -fsanitize=address,undefined)
elseif(SANITIZE STREQUAL "thread")
  set(_flags -fsanitize=thread)
endif()
set(_common -S ${SOURCE}/tests/install/consumer -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} "-DCMAKE_CXX_FLAGS=${_flags}" -DCMAKE_BUILD_TYPE=Release)

step(${CMAKE_COMMAND} ${_common} -B ${WORK}/package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
step(${CMAKE_COMMAND} --build ${WORK}/package)
if(CPU_DRIVER AND EXISTS ${CPU_DRIVER})
  step(${CMAKE_COMMAND} -E env CUCORE_DEVICE=cpu CUCORE_CPU_DRIVER=${CPU_DRIVER} ${WORK}/package/consumer)
  if(NOT output MATCHES "filled 1048576 bytes")
    message(FATAL_ERROR "the consumer ran and said:\n${output}")
  endif()
endif()

# As a subdirectory: configured only, since the sources are the same that were just built.
step(${CMAKE_COMMAND} ${_common} -B ${WORK}/subdirectory -DCUCORE_SOURCE=${SOURCE})
