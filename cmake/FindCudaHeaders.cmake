# Finds the folder with cuda.h: $CUDA_HOME/include if the variable is set (empty: it is not), else the PyPI headers in the environment of
# the Python interpreter in use (nvidia-cuda-runtime). A toolkit elsewhere on the machine is not used.
# Result: target CudaHeaders::CudaHeaders.
if(NOT "$ENV{CUDA_HOME}" STREQUAL "")
  set(_candidates "$ENV{CUDA_HOME}/include")
else()
  file(GLOB _candidates
    "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/include")
  foreach(_prefix IN LISTS CMAKE_PREFIX_PATH)  # where an isolated build has its requirements
    list(PREPEND _candidates "${_prefix}/nvidia/cu13/include")
  endforeach()
  if(DEFINED Python_SITELIB)
    list(PREPEND _candidates "${Python_SITELIB}/nvidia/cu13/include")
  endif()
endif()
find_path(CudaHeaders_INCLUDE_DIR cuda.h PATHS ${_candidates} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders REQUIRED_VARS CudaHeaders_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "no cuda.h: run `make setup`, or set CUDA_HOME")
if(CudaHeaders_FOUND AND NOT TARGET CudaHeaders::CudaHeaders)
  add_library(CudaHeaders::CudaHeaders INTERFACE IMPORTED)
  target_include_directories(CudaHeaders::CudaHeaders SYSTEM INTERFACE ${CudaHeaders_INCLUDE_DIR})
endif()
