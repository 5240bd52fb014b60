# Unit tests of the compile half; none needs a driver.
set(cucore_toolkit_unit_sources
  unit/code_type_test.cpp
  unit/program_cache_process_test.cpp
  unit/program_cache_test.cpp
  unit/diagnostic_test.cpp
  unit/kernel_statistics_test.cpp
  unit/elf_section_test.cpp
  unit/file_snapshot_test.cpp
  unit/known_keys_test.cpp
  unit/include_scan_test.cpp
  unit/linker_options_test.cpp
  unit/linker_test.cpp
  unit/object_code_bytes_test.cpp
  unit/nvvm_test.cpp
  unit/option_keys_test.cpp
  unit/program_options_test.cpp
  unit/ptx_syntax_test.cpp
  unit/several_images_test.cpp
  unit/program_test.cpp
  unit/temporary_folder.cpp
  unit/toolkit_abi_test.cpp
  unit/toolkit_test.cpp
)

# A process of its own that compiles through a cache, for tests of several processes and of killed ones.
add_executable(compile_through_cache ${PROJECT_SOURCE_DIR}/tests/unit/compile_through_cache.cpp)
cucore_target(compile_through_cache)
target_link_libraries(compile_through_cache PRIVATE cucore::cucore)
set_source_files_properties(unit/program_cache_process_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "COMPILE_THROUGH_CACHE=\"$<TARGET_FILE:compile_through_cache>\""
  OBJECT_DEPENDS compile_through_cache)
