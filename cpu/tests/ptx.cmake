# Tests of the PTX parser: standard library only.
add_executable(ptx_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_constants_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_corpus_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_declarations_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_diagnostics_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_instructions_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_operand_rules_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/ptx_robustness_test.cpp)
cucore_test(ptx_tests)
target_link_libraries(ptx_tests PRIVATE cpu_ptx GTest::gtest_main)
target_compile_definitions(ptx_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME ptx_tests COMMAND ptx_tests)
