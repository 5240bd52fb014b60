# Tests of the code generator alone: parsed PTX runs on a single-threaded stand-in for the run-time.
add_executable(codegen_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/codegen_spellings_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/codegen_stand_in.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/codegen_forms_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/codegen_kernels_test.cpp)
cucore_target(codegen_tests)
target_link_libraries(codegen_tests PRIVATE cpu_codegen cpu_ptx GTest::gtest_main)
target_compile_definitions(codegen_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME codegen_tests COMMAND codegen_tests)
