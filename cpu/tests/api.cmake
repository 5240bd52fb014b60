# Tests of the driver as a program sees it: linked to libcuda.so.1, nothing else of the CPU device.
add_executable(api_tests
  ${PROJECT_SOURCE_DIR}/cpu/api/md2.cpp
  ${PROJECT_SOURCE_DIR}/cpu/image/cubin.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_arguments_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_cache_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_events_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_capture_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_conditional_nodes_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_export_tables_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_external_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_fidelity_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_graphs_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_green_contexts_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_ipc_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_launch_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_logs_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_modules_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_newer_entries_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_prepared_launch_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_process_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_streams_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_surface_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api_virtual_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/fault_places_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime_failures_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime_kernels_test.cpp)
cucore_test(api_tests <gtest/gtest.h>)
if(CUCORE_SANITIZE STREQUAL "address")  # C callers pass enumerators that are none: answered, not undefined
  target_compile_options(api_tests PRIVATE -fno-sanitize=enum)
endif()
target_link_libraries(api_tests PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
target_compile_definitions(api_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests"
  CUCORE_TEST_PROGRAM="$<TARGET_FILE:launching_program>"
  CUCORE_SHARING_PROGRAM="$<TARGET_FILE:sharing_program>")
add_test(NAME api_tests COMMAND api_tests)
set_tests_properties(api_tests PROPERTIES ENVIRONMENT CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache)

# Textures, surfaces, batches of copies; nothing in it knows the CPU device, so it runs on a GPU's driver too (LD_PRELOAD=libcuda.so.1).
add_executable(texture_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/batch_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/driver_answers_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/pageable_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/texture_lifetime_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/texture_places_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/texture_shapes_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/texture_test.cpp)
cucore_test(texture_tests)
target_link_libraries(texture_tests PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
target_compile_definitions(texture_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME texture_tests COMMAND texture_tests)
set_tests_properties(texture_tests PROPERTIES ENVIRONMENT CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache)
# They do nothing wrong, so the checker has nothing to say.
add_test(NAME texture_tests_checked COMMAND texture_tests)
set_tests_properties(texture_tests_checked PROPERTIES
  ENVIRONMENT "CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache;CUCORE_CPU_CHECK=memory,race,init,sync"
  FAIL_REGULAR_EXPRESSION "SUMMARY: [1-9]")

# What lanes of a warp do together, in every form of code; on a GPU's driver too.
add_executable(warp_tests ${PROJECT_SOURCE_DIR}/cpu/tests/warp_test.cpp)
cucore_test(warp_tests)
target_link_libraries(warp_tests PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
target_compile_definitions(warp_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
foreach(setting FORM=auto FORM=scalar FORM=vector FORM=masked CHECK=memory CHECK=memory,race,init,sync CHECK_SEED=7)
  add_test(NAME warp_tests_${setting} COMMAND warp_tests)
  set_tests_properties(warp_tests_${setting} PROPERTIES
    ENVIRONMENT "CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache;CUCORE_CPU_${setting}")
endforeach()

# What api_cache_test.cpp starts.
add_executable(launching_program ${PROJECT_SOURCE_DIR}/cpu/tests/launching_program.cpp)
cucore_target(launching_program)
target_link_libraries(launching_program PRIVATE cuda CudaHeaders::CudaHeaders)
add_dependencies(api_tests launching_program)

# Whose memory api_ipc_test.cpp opens.
add_executable(sharing_program ${PROJECT_SOURCE_DIR}/cpu/tests/sharing_program.cpp)
cucore_target(sharing_program)
target_link_libraries(sharing_program PRIVATE cuda CudaHeaders::CudaHeaders)
add_dependencies(api_tests sharing_program)
