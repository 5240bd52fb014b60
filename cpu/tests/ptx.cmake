# Tests of the PTX parser: standard library only.
add_executable(ptx_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/constants_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/corpus_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/declarations_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/diagnostics_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/instructions_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/module_index_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/old_spellings_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/operand_rules_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx/robustness_test.cpp)
cucore_test(ptx_tests REUSE_FROM cpu_test_headers)
target_link_libraries(ptx_tests PRIVATE cpu_ptx GTest::gtest_main)
target_compile_definitions(ptx_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME ptx_tests COMMAND ptx_tests)
