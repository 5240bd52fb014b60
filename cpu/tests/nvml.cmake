# Tests of libnvidia-ml.so.1, linked to it and nothing else; tests/clients has those with nvidia-ml-py.
add_executable(nvml_tests ${PROJECT_SOURCE_DIR}/cpu/tests/nvml/nvml_test.cpp)
cucore_test(nvml_tests REUSE_FROM cpu_test_headers)
target_link_libraries(nvml_tests PRIVATE cpu_nvml GTest::gtest_main)
add_test(NAME nvml_tests COMMAND nvml_tests)
