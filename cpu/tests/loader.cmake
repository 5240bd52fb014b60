# Tests of the loader and its cache, on the same stand-in for the run-time as those of the code generator; once more in the
# vector form.
cucore_compiler_tests(loader_tests
  loader/cache_test.cpp
  loader/faulting_access_test.cpp
  loader/image_record_test.cpp
  loader/key_test.cpp
  loader/machine_test.cpp
  loader/object_test.cpp)
add_test(NAME loader_tests COMMAND loader_tests)
add_test(NAME loader_tests_in_vector_form COMMAND loader_tests)
set_tests_properties(loader_tests PROPERTIES ENVIRONMENT "${CUCORE_TEST_MEMORY}")
set_tests_properties(loader_tests_in_vector_form PROPERTIES ENVIRONMENT "CUCORE_CPU_FORM=vector;${CUCORE_TEST_MEMORY}")
