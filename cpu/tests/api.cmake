# cucore_driver_tests(target FILE...): a program of these tests, files of cpu/tests, that is linked to the driver.
function(cucore_driver_tests target)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/cpu/tests/)
  add_executable(${target} ${files})
  cucore_test(${target} REUSE_FROM cpu_test_headers)
  target_link_libraries(${target} PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
endfunction()

# cucore_run_with(target name VARIABLE=value...): runs it as the test `name`, in this environment.
function(cucore_run_with target name)
  set(environment CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache ${CUCORE_TEST_MEMORY} ${ARGN})
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
endfunction()

# Tests of the driver as a program sees it: linked to libcuda.so.1, nothing else of the CPU device.
add_executable(api_tests
  ${PROJECT_SOURCE_DIR}/cpu/image/cubin.cpp
  ${PROJECT_SOURCE_DIR}/cpu/image/cubin_symbols.cpp
  ${PROJECT_SOURCE_DIR}/cpu/image/elf_sections.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/arguments_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/cache_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/capture_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/conditional_nodes_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/device_runtime_link_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/events_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/external_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/fidelity_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/graphs_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/green_contexts_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/ipc_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/large_images_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/launch_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/link_options_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/logs_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/modules_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/registers_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/newer_entries_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/nvidia_library_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/prepared_launch_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/process_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/streams_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/surface_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/api/virtual_memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/failures_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/fault_places_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/kernels_test.cpp)
if(CUCORE_CPU_RUNTIME_LIBRARY)
  target_sources(api_tests PRIVATE
    ${PROJECT_SOURCE_DIR}/cpu/api/export_tables/md2.cpp
    ${PROJECT_SOURCE_DIR}/cpu/tests/api/export_tables_test.cpp)
endif()
cucore_test(api_tests REUSE_FROM cpu_test_headers)
if(CUCORE_SANITIZE STREQUAL "address")  # C callers pass enumerators that are none: answered, not undefined
  target_compile_options(api_tests PRIVATE -fno-sanitize=enum)
endif()
target_link_libraries(api_tests PRIVATE cuda CudaHeaders::CudaHeaders GTest::gtest_main)
target_compile_definitions(api_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests"
  CUCORE_TEST_PROGRAM="$<TARGET_FILE:launching_program>"
  CUCORE_SHARING_PROGRAM="$<TARGET_FILE:sharing_program>"
  CUCORE_TEST_CUFFT="$<TARGET_FILE:library_named_cufft>"
  CUCORE_TEST_OTHER_LIBRARY="$<TARGET_FILE:library_of_others>")
add_test(NAME api_tests COMMAND api_tests)
set_tests_properties(api_tests PROPERTIES ENVIRONMENT CUCORE_CPU_CACHE=${PROJECT_BINARY_DIR}/test-kernel-cache)

# Textures, surfaces, batches of copies; nothing in it knows the CPU device, so it runs on a GPU's driver too (LD_PRELOAD=libcuda.so.1).
cucore_driver_tests(texture_tests
  any_driver/batch_test.cpp
  any_driver/argument_answers_test.cpp
  any_driver/driver_answers_test.cpp
  any_driver/own_context_test.cpp
  any_driver/pageable_memory_test.cpp
  any_driver/texture_lifetime_test.cpp
  any_driver/texture_places_test.cpp
  any_driver/compressed_texture_test.cpp
  any_driver/texture_reference_test.cpp
  any_driver/texture_shapes_test.cpp
  any_driver/texture_test.cpp)
cucore_run_with(texture_tests texture_tests)
# They have no errors, so the checker must report none.
cucore_run_with(texture_tests texture_tests_checked CUCORE_CPU_CHECK=memory,race,init,sync)
set_tests_properties(texture_tests_checked PROPERTIES FAIL_REGULAR_EXPRESSION "SUMMARY: [1-9]")

# What lanes of a warp do together, in every form of code; on a GPU's driver too.
cucore_driver_tests(warp_tests
  any_driver/exchange_programs.cpp
  any_driver/exchange_test.cpp
  any_driver/lane_machine.cpp
  any_driver/lane_programs.cpp
  any_driver/lane_programs_test.cpp
  any_driver/warp_test.cpp)
if(CUCORE_SANITIZE)  # of random programs, which take long there and are about what code is made
  set(_random CUCORE_RANDOM_KERNELS=8)
endif()
set(_settings FORM=auto FORM=scalar FORM=vector FORM=masked CHECK=memory CHECK=memory,race,init,sync CHECK_SEED=7)
if(CUCORE_SANITIZE STREQUAL "thread")  # to which all generated code is alike: it sees none of its accesses
  set(_settings FORM=auto FORM=scalar CHECK=memory,race,init,sync)
endif()
foreach(setting IN LISTS _settings)
  cucore_run_with(warp_tests warp_tests_${setting} CUCORE_CPU_${setting} ${_random})
endforeach()

# What free() in a kernel does with other memory, in every form of code; on a GPU's driver too.
cucore_driver_tests(kernel_heap_tests any_driver/kernel_heap_test.cpp)
foreach(form auto scalar vector masked)
  cucore_run_with(kernel_heap_tests kernel_heap_tests_${form} CUCORE_CPU_FORM=${form})
endforeach()

# What blocks see of each other's accesses, in the scalar and in the vector form; on a GPU's driver too.
cucore_driver_tests(litmus_tests any_driver/litmus_test.cpp)
foreach(form auto scalar vector)
  cucore_run_with(litmus_tests litmus_tests_${form} CUCORE_CPU_FORM=${form})
endforeach()

# Grids that run for too long, in every form of code.
if(NOT CUCORE_SANITIZE STREQUAL "thread")  # which holds signals back while code runs that it has not compiled
  cucore_driver_tests(timeout_tests api/timeout_test.cpp)
  foreach(form scalar vector masked)
    cucore_run_with(timeout_tests timeout_tests_${form} CUCORE_CPU_FORM=${form} CUCORE_CPU_TIMEOUT=0.1)
    set_tests_properties(timeout_tests_${form} PROPERTIES TIMEOUT 120)
  endforeach()
endif()

# What api/nvidia_library_test.cpp opens.
foreach(name library_named_cufft library_of_others)
  add_library(${name} MODULE ${PROJECT_SOURCE_DIR}/cpu/tests/api/library_of_machine_code.cpp)
  cucore_target(${name})
  target_link_libraries(${name} PRIVATE cuda CudaHeaders::CudaHeaders)
  add_dependencies(api_tests ${name})
endforeach()
set_target_properties(library_named_cufft PROPERTIES PREFIX "" OUTPUT_NAME libcufft SUFFIX .so.12)

# Kernels that launch kernels, in every form of code; on a GPU's driver too.
cucore_driver_tests(device_launch_tests any_driver/device_launch_test.cpp)
foreach(setting IN LISTS _settings)
  if(setting STREQUAL "CHECK=memory")
    continue()
  endif()
  cucore_run_with(device_launch_tests device_launch_tests_${setting} CUCORE_CPU_${setting})
endforeach()

# Kernels that change their form while they run. Each is compiled, so no folder is used.
cucore_driver_tests(later_form_tests api/later_form_test.cpp)
add_test(NAME later_form_tests COMMAND later_form_tests)
set_tests_properties(later_form_tests PROPERTIES ENVIRONMENT "CUCORE_CPU_CACHE=0;CUCORE_CPU_FORM=auto")

# What api/cache_test.cpp starts.
add_executable(launching_program ${PROJECT_SOURCE_DIR}/cpu/tests/api/launching_program.cpp)
cucore_target(launching_program)
target_link_libraries(launching_program PRIVATE cuda CudaHeaders::CudaHeaders)
add_dependencies(api_tests launching_program)

# Whose memory api/ipc_test.cpp opens.
add_executable(sharing_program ${PROJECT_SOURCE_DIR}/cpu/tests/api/sharing_program.cpp)
cucore_target(sharing_program)
target_link_libraries(sharing_program PRIVATE cuda CudaHeaders::CudaHeaders)
add_dependencies(api_tests sharing_program)
