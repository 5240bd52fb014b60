# Tests of parts of the runtime by themselves; what kernels and the driver's calls show of it is in api.cmake.
add_executable(runtime_tests
  ${PROJECT_SOURCE_DIR}/cpu/analysis/instructions/number_checks.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/checker/number_values.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/checker/quiet_places.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/process/host_memory.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/process/settings.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/threads/fiber.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/threads/placement.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/host_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/numbers_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/placement_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/settings_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/stacks_test.cpp)
cucore_test(runtime_tests REUSE_FROM cpu_test_headers)
target_link_libraries(runtime_tests PRIVATE cpu_ptx ${BOOST_CONTEXT_STATIC} GTest::gtest_main)
add_test(NAME runtime_tests COMMAND runtime_tests)

# Blocks that wait for each other: by default, on one core, in each form, in the orders of a seed, and checked, since they
# do nothing wrong (but a poll that races are looked for in takes long).
add_executable(waiting_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/waiting_blocks_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/waiting_kernels.cpp)
cucore_test(waiting_tests REUSE_FROM cpu_test_headers)
target_link_libraries(waiting_tests PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
set(_runs "waiting_tests" "waiting_tests_raced CUCORE_CPU_CHECK=race CUCORE_RANDOM_BLOCKS=6 CUCORE_RANDOM_STRONG=1")
if(NOT CUCORE_SANITIZE STREQUAL "thread")  # where each takes minutes, and has the same threads
  list(APPEND _runs "waiting_tests_on_one_core CUCORE_TEST_CORES=1"
    "waiting_tests_scalar CUCORE_CPU_FORM=scalar" "waiting_tests_vector CUCORE_CPU_FORM=vector"
    "waiting_tests_masked CUCORE_CPU_FORM=masked"
    "waiting_tests_seeded CUCORE_CPU_CHECK_SEED=1" "waiting_tests_checked CUCORE_CPU_CHECK=memory,init,sync")
endif()
# The thread sanitizer keeps what it knows of each stack that ever was: one process for all ran out of mappings.
set(_filters "*")
if(CUCORE_SANITIZE STREQUAL "thread")
  set(_filters "*clusters*" "-*clusters*")
endif()
foreach(_run IN LISTS _runs)
  separate_arguments(_run)
  list(POP_FRONT _run _name)
  foreach(_filter IN LISTS _filters)
    string(MAKE_C_IDENTIFIER "${_filter}" _suffix)
    string(REGEX REPLACE "^_$" "" _suffix "${_suffix}")
    add_test(NAME ${_name}${_suffix} COMMAND waiting_tests "--gtest_filter=${_filter}")
    set_tests_properties(${_name}${_suffix} PROPERTIES FAIL_REGULAR_EXPRESSION "SUMMARY: [1-9]"
      ENVIRONMENT "CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache;${_run}")
  endforeach()
endforeach()
