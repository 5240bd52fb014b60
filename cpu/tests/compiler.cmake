# Tests of the code generator alone: parsed PTX runs on a single-threaded stand-in for the run-time.
add_executable(codegen_tests
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/approximations_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/bias_gradients_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/checks_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/compile_budget_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/form_choice_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/forms_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/kernels_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/lockstep_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/orderings_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/overtaking_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/random_kernels.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/rounding_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/spellings_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/stand_in.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/division_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/fragment_product_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/groups_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/memory_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/rows_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/strides_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/vector_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/vector/warp_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/compiler/waiting_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/cache_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/faulting_access_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/image_record_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/key_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/machine_test.cpp
  ${PROJECT_SOURCE_DIR}/cpu/tests/loader/object_test.cpp)
cucore_test(codegen_tests REUSE_FROM cpu_test_headers)
target_link_libraries(codegen_tests PRIVATE cpu_loader cpu_ptx GTest::gtest_main)
# The code under test is in the executable, and looks for the compiler beside itself.
add_dependencies(codegen_tests cpu_compiler)
add_custom_command(TARGET codegen_tests POST_BUILD VERBATIM COMMAND ${CMAKE_COMMAND} -E create_symlink
  $<TARGET_FILE:cpu_compiler> $<TARGET_FILE_DIR:codegen_tests>/$<TARGET_FILE_NAME:cpu_compiler>)
target_compile_definitions(codegen_tests PRIVATE CUCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/cpu/tests")
add_test(NAME codegen_tests COMMAND codegen_tests)
# Once more in the vector form, wherever it takes a kernel, but for those that choose their forms themselves.
add_test(NAME codegen_tests_in_vector_form COMMAND codegen_tests
  --gtest_filter=-VectorForm*.*:VectorGroups.*:CheckedForm.*:Approximations.*:Rounding.*:BiasGradients.*:CombinedPredicates.*:CombinedMasks.*:CompileBudget.*:OvertakingLanes.*:VectorStrides.*)
set_tests_properties(codegen_tests PROPERTIES ENVIRONMENT "${CUCORE_TEST_MEMORY}")
set_tests_properties(codegen_tests_in_vector_form PROPERTIES ENVIRONMENT "CUCORE_CPU_FORM=vector;${CUCORE_TEST_MEMORY}")
