# A toolkit root (with lib or lib64) to search after the environment and before the dynamic loader. Developers get the
# one of the project's own Python environment.
set(_cucore_toolkit_dir "")
if(CUCORE_ARM_SYSTEM)
  set(_cucore_toolkit_dir /usr/lib/python3/site-packages/nvidia/cu13)  # as programs there see it
elseif(CUCORE_DEVELOPER)
  file(GLOB _cucore_toolkit_dir ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13)
endif()
set(CUCORE_TOOLKIT_DIR "${_cucore_toolkit_dir}" CACHE PATH "Toolkit root with NVRTC and nvJitLink; empty: none built
  in")
if(CUCORE_TOOLKIT_DIR)
  set_source_files_properties(toolkit/locate.cpp PROPERTIES
    COMPILE_DEFINITIONS "CUCORE_BUILT_IN_TOOLKIT_DIR=\"${CUCORE_TOOLKIT_DIR}\"")
endif()
