# Conformance tests of the compile half: what compiled code does once it meets a driver.
set(cucore_toolkit_conformance_sources
  conformance/code/compile_millions_test.cpp
  conformance/code/compiled_code_test.cpp
  conformance/code/loading_threads_test.cpp
  conformance/code/object_code_test.cpp)
