# Conformance tests of the compile half: what compiled code does once it meets a driver.
set(cucore_toolkit_conformance_sources
  conformance/compile_millions_test.cpp
  conformance/compiled_code_test.cpp
  conformance/loading_threads_test.cpp
  conformance/object_code_test.cpp
)
