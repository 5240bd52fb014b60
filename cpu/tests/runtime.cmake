# Tests of parts of the runtime by themselves; what kernels and the driver's calls show of it is in api.cmake.
add_executable(runtime_tests
  ${PROJECT_SOURCE_DIR}/cpu/runtime/process/settings.cpp
  ${PROJECT_SOURCE_DIR}/cpu/runtime/threads/placement.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/placement_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/runtime/settings_test.cpp)
cucore_test(runtime_tests)
target_link_libraries(runtime_tests PRIVATE GTest::gtest_main)
add_test(NAME runtime_tests COMMAND runtime_tests)
