# The compile half of the library, included by src/CMakeLists.txt; paths are relative to src.
set(cucore_toolkit_sources
  code_type.cpp
  program_cache.cpp
  program_cache_folder.cpp
  compile_key.cpp
  known_keys.cpp
  linker.cpp
  linker_driver.cpp
  linker_inputs.cpp
  linker_nvjitlink.cpp
  linker_options.cpp
  linker_ptx.cpp
  linker_symbols.cpp
  object_code.cpp
  object_code_bytes.cpp
  object_code_images.cpp
  object_code_load.cpp
  option_faults.cpp
  program.cpp
  program_compile.cpp
  program_option_table.cpp
  program_options.cpp
  program_options_validate.cpp
  diagnostic.cpp
  kernel_statistics.cpp
  detail/checksum.cpp
  detail/code_symbols.cpp
  detail/decompress.cpp
  detail/device_units.cpp
  detail/elf.cpp
  detail/fatbin.cpp
  detail/file_snapshot.cpp
  detail/files.cpp
  detail/frame.cpp
  detail/include_closure.cpp
  detail/include_scan.cpp
  detail/ptx_syntax.cpp
  detail/sha256.cpp
  toolkit/late_destructors.cpp
  toolkit/library.cpp
  toolkit/locate.cpp
  toolkit/nvjitlink.cpp
  toolkit/nvrtc.cpp
  toolkit/nvvm.cpp
  toolkit/results.cpp
  toolkit/running_call.cpp
)

# A toolkit root (with lib or lib64) to search after the environment and before the dynamic loader. Developers get the
# one of the project's own Python environment.
set(_cucore_toolkit_dir "")
if(CUCORE_DEVELOPER)
  file(GLOB _cucore_toolkit_dir ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13)
endif()
set(CUCORE_TOOLKIT_DIR "${_cucore_toolkit_dir}" CACHE PATH "Toolkit root with NVRTC and nvJitLink; empty: none built in")
if(CUCORE_TOOLKIT_DIR)
  set_source_files_properties(toolkit/locate.cpp PROPERTIES
    COMPILE_DEFINITIONS "CUCORE_BUILT_IN_TOOLKIT_DIR=\"${CUCORE_TOOLKIT_DIR}\"")
endif()
