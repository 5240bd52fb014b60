# Variables: BUILD, SOURCE, COMPILER, LAUNCHER, SANITIZE, CPU_DRIVER, GENERATOR, WORK, LIBDIR,
# TOOLKIT (a Python environment with NVRTC; may be empty).
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE _result OUTPUT_VARIABLE _output ERROR_VARIABLE _output)
  if(NOT _result EQUAL 0)
    message(FATAL_ERROR "failed (${_result}): ${ARGN}\n${_output}")
  endif()
  set(output "${_output}" PARENT_SCOPE)
endfunction()

# expect_output(REGEX): of the last step.
function(expect_output expected)
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "expected \"${expected}\" in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component cucore --strip)
foreach(_file IN ITEMS bin/cucore-embed include/cucore/cucore.hpp ${LIBDIR}/cmake/cucore/cucore-config.cmake
    ${LIBDIR}/cmake/cucore/CucoreEmbed.cmake ${LIBDIR}/pkgconfig/cucore.pc)
  if(NOT EXISTS ${WORK}/prefix/${_file})
    message(FATAL_ERROR "not installed: ${_file}")
  endif()
endforeach()
step(readelf -S ${WORK}/prefix/${LIBDIR}/libcucore.a)
if(output MATCHES "debug_info")
  message(FATAL_ERROR "the installed library is not stripped")
endif()
set(_flags "")
if(SANITIZE STREQUAL "address")
  set(_flags -fsanitize=address,undefined)
elseif(SANITIZE STREQUAL "thread")
  set(_flags -fsanitize=thread)
endif()
set(_common -S ${SOURCE}/tests/install/consumer -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} "-DCMAKE_CXX_FLAGS=${_flags}" -DCMAKE_BUILD_TYPE=Release)


set(_run ${CMAKE_COMMAND} -E env CUCORE_DEVICE=cpu CUCORE_CPU_DRIVER=${CPU_DRIVER} "CUCORE_CACHE_DIR=${WORK}/cache")
set(_programs consumer)
if(TOOLKIT)  # where there is NVRTC, which lies in an environment of Python
  list(APPEND _programs embedding)
  list(APPEND _run "VIRTUAL_ENV=${TOOLKIT}" CUDA_HOME=)
endif()
step(${CMAKE_COMMAND} ${_common} -B ${WORK}/package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
step(${_run} ${CMAKE_COMMAND} --build ${WORK}/package --target ${_programs})
if(EXISTS ${BUILD}/src/redis/cmake_install.cmake)
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component cucore_redis --strip)
  step(${CMAKE_COMMAND} ${_common} -B ${WORK}/package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  step(${_run} ${CMAKE_COMMAND} --build ${WORK}/package --target sharing)
  step(${WORK}/package/sharing)
  expect_output("0 hits")
endif()
file(SIZE ${WORK}/package/consumer _size)
if(NOT SANITIZE AND _size GREATER 8000000)
  message(FATAL_ERROR "a small program has ${_size} bytes")
endif()
if(CPU_DRIVER AND EXISTS ${CPU_DRIVER})
  step(${_run} ${WORK}/package/consumer)
  expect_output("filled 1048576 bytes")
  if(TOOLKIT)
    step(${_run} ${WORK}/package/embedding)
    expect_output("embedded kernels ran")
  endif()
endif()

execute_process(COMMAND ${WORK}/prefix/bin/cucore-embed --output ${WORK}/nothing.hpp --namespace nothing
  ${SOURCE}/tests/install/consumer/main.cpp RESULT_VARIABLE _result ERROR_VARIABLE output)
expect_output("main.cpp: has no kernel")
if(NOT _result EQUAL 1)
  message(FATAL_ERROR "cucore-embed of a source with no kernel: exit status ${_result}")
endif()

# By pkg-config.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  step(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${WORK}/prefix/${LIBDIR}/pkgconfig
    ${PKG_CONFIG} --cflags --libs cucore)
  string(STRIP "${output}" output)
  separate_arguments(_words UNIX_COMMAND "${output} ${_flags}")
  step(${LAUNCHER} ${COMPILER} ${SOURCE}/tests/install/consumer/main.cpp -o ${WORK}/by_pkg_config ${_words})
endif()

# As a subdirectory and by FetchContent: configured only, since the sources are the same that were just built.
step(${CMAKE_COMMAND} ${_common} -B ${WORK}/subdirectory -DCUCORE_SOURCE=${SOURCE})
step(${CMAKE_COMMAND} ${_common} -B ${WORK}/fetched -DCUCORE_SOURCE=${SOURCE} -DCUCORE_FETCH=ON)

# Without LLVM the CPU device is an error that says what to type, or, with AUTO, a warning that does.
set(_without_llvm ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON)
foreach(_choice IN ITEMS ON AUTO)
  execute_process(COMMAND ${_without_llvm} -B ${WORK}/without_llvm_${_choice} -DCUCORE_BUILD_CPU_DEVICE=${_choice}
    RESULT_VARIABLE _result OUTPUT_QUIET ERROR_VARIABLE output)
  expect_output("apt-get install llvm-19-dev.*pip install cucore-cpu-device")
  if((_choice STREQUAL "ON" AND _result EQUAL 0) OR (_choice STREQUAL "AUTO" AND NOT _result EQUAL 0))
    message(FATAL_ERROR "CUCORE_BUILD_CPU_DEVICE=${_choice} without LLVM: exit status ${_result}")
  endif()
endforeach()
