# Tests of the image readers.
add_executable(image_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/image/device_units_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/image/image_test.cpp)
cucore_test(image_tests REUSE_FROM cpu_test_headers)
target_link_libraries(image_tests PRIVATE cpu_image GTest::gtest_main)
target_compile_definitions(image_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME image_tests COMMAND image_tests)
