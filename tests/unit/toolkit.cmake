# Unit tests of the compile half; none needs a driver.
set(cucore_toolkit_unit_sources
  unit/option_keys_test.cpp
  unit/temporary_folder.cpp
  unit/code/object_code_bytes_test.cpp
  unit/code/several_images_test.cpp
  unit/compile/diagnostic_test.cpp
  unit/compile/kernel_statistics_test.cpp
  unit/compile/known_keys_test.cpp
  unit/compile/linker_options_test.cpp
  unit/compile/linker_test.cpp
  unit/compile/program_cache_process_test.cpp
  unit/compile/program_cache_test.cpp
  unit/compile/program_options_test.cpp
  unit/compile/program_test.cpp
  unit/formats/code_type_test.cpp
  unit/formats/elf_section_test.cpp
  unit/files/file_snapshot_test.cpp
  unit/files/include_scan_test.cpp
  unit/formats/ptx_syntax_test.cpp
  unit/store/archive_test.cpp
  unit/store/cpu_kernels_test.cpp
  unit/store/sealed_entry_test.cpp
  unit/store/shared_store_test.cpp
  unit/toolkit/nvvm_test.cpp
  unit/toolkit/toolkit_abi_test.cpp
  unit/toolkit/toolkit_test.cpp)

# A process of its own that compiles through a cache, for tests of several processes and of killed ones.
add_executable(compile_through_cache ${PROJECT_SOURCE_DIR}/tests/unit/compile/compile_through_cache.cpp)
cucore_target(compile_through_cache)
target_link_libraries(compile_through_cache PRIVATE cucore::cucore)
set_source_files_properties(unit/compile/program_cache_process_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "COMPILE_THROUGH_CACHE=\"$<TARGET_FILE:compile_through_cache>\""
  OBJECT_DEPENDS compile_through_cache)
