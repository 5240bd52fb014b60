# Tests of results and failures: standard library only.
add_executable(error_tests ${PROJECT_SOURCE_DIR}/cpu/tests/error/result_test.cpp)
cucore_test(error_tests REUSE_FROM cpu_test_headers)
target_link_libraries(error_tests PRIVATE GTest::gtest_main)
add_test(NAME error_tests COMMAND error_tests)
