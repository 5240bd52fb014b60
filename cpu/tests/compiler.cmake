# Tests of the code generator alone: parsed PTX runs on a single-threaded stand-in for the run-time.
cucore_compiler_tests(codegen_tests
  compiler/approximations_test.cpp
  compiler/bias_gradients_test.cpp
  compiler/checks_test.cpp
  compiler/compile_budget_test.cpp
  compiler/form_choice_test.cpp
  compiler/forms_test.cpp
  compiler/kernels_test.cpp
  compiler/lockstep_test.cpp
  compiler/orderings_test.cpp
  compiler/overtaking_test.cpp
  compiler/random_kernels.cpp
  compiler/rounding_test.cpp
  compiler/spellings_test.cpp
  compiler/vector/division_test.cpp
  compiler/vector/fragment_product_test.cpp
  compiler/vector/groups_test.cpp
  compiler/vector/memory_test.cpp
  compiler/vector/rows_test.cpp
  compiler/vector/strides_test.cpp
  compiler/vector/vector_test.cpp
  compiler/vector/warp_test.cpp
  compiler/waiting_test.cpp)
add_test(NAME codegen_tests COMMAND codegen_tests)
# Once more in the vector form, wherever it takes a kernel, but for those that choose their forms themselves.
add_test(NAME codegen_tests_in_vector_form COMMAND codegen_tests
  --gtest_filter=-VectorForm*.*:VectorGroups.*:CheckedForm.*:Approximations.*:Rounding.*:BiasGradients.*:CombinedPredicates.*:CombinedMasks.*:CompileBudget.*:OvertakingLanes.*:VectorStrides.*)
set_tests_properties(codegen_tests PROPERTIES ENVIRONMENT "${CUCORE_TEST_MEMORY}")
set_tests_properties(codegen_tests_in_vector_form PROPERTIES ENVIRONMENT "CUCORE_CPU_FORM=vector;${CUCORE_TEST_MEMORY}")
