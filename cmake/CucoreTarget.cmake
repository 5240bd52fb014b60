# cucore_target(name): the rules every target of this project follows (language level, visibility, warnings,
# sanitizers, includes from the repository root). Consumers get none of it.
function(cucore_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  # x86-64 has a fused multiplication and addition only in functions that ask for it; elsewhere it would change results.
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(${name} PRIVATE -ffp-contract=off)
  endif()
  if(CUCORE_DEVELOPER)
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
  endif()
  if(CUCORE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)  # g++ 12 is wrong about <regex> when it instruments
  endif()
  # Names and lines for backtraces and profiles; types and variables, a fifth of the time to build, come with Debug.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1>)
  if(CUCORE_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)  # enough for its reports, and half the time to build
  endif()
  if(CUCORE_SANITIZE STREQUAL "address")
    # The kinds left out are seen by the address sanitizer or the processor (null, object-size, pointer-overflow, vptr),
    # are warnings (nonnull), or are looked for by the fuzzers in what reads bytes (alignment): a third of the build.
    target_compile_options(${name} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined
      -fno-sanitize=null,object-size,pointer-overflow,vptr,nonnull-attribute,returns-nonnull-attribute,alignment
      -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=address,undefined)
    set(_macro __SANITIZE_ADDRESS__)
  elseif(CUCORE_SANITIZE STREQUAL "thread")
    target_compile_options(${name} PRIVATE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=thread)
    set(_macro __SANITIZE_THREAD__)
  elseif(CUCORE_SANITIZE STREQUAL "fuzzer")  # the fuzzers link with libFuzzer's main function besides
    set(sanitizers -fsanitize=fuzzer-no-link,address,undefined)
    target_compile_options(${name} PRIVATE ${sanitizers} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE ${sanitizers})
    set(_macro __SANITIZE_ADDRESS__)
  endif()
  if(CUCORE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_definitions(${name} PRIVATE ${_macro}=1)  # as g++: clang says it by __has_feature alone
    if(CUCORE_SANITIZE STREQUAL "thread")
      # The sanitizer's library by itself, as g++ has it: our libraries leave no names for programs to define.
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.tsan-${CMAKE_SYSTEM_PROCESSOR}.so
        OUTPUT_VARIABLE _runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      cmake_path(GET _runtime PARENT_PATH _runtime)
      target_link_options(${name} PRIVATE -shared-libsan -Wl,-rpath,${_runtime})
    endif()
  endif()
endfunction()

# cucore_fuzzer(name SEEDS LIBRARY...): a libFuzzer target of name.cpp, which lies in <build>/fuzzers, with its seeds in
# <build>/seeds/<name>, where tools/run_tests.py looks for them.
function(cucore_fuzzer name seeds)
  if(NOT CUCORE_SANITIZE STREQUAL "fuzzer")
    message(FATAL_ERROR "CUCORE_BUILD_FUZZERS needs CUCORE_SANITIZE=fuzzer and clang: see the preset `fuzz`")
  endif()
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_executable(${name} ${name}.cpp)
  cucore_target(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  add_dependencies(fuzzers ${name})
  file(COPY ${seeds}/ DESTINATION ${PROJECT_BINARY_DIR}/seeds/${name})
endfunction()

# cucore_precompile(name HEADER... | name REUSE_FROM target): headers that most files of a target include, of other libraries
# above all, are compiled once, by themselves or with another target. Files include what they need all the same: where they
# are not joined, there are no such headers.
function(cucore_precompile name)
  if(NOT CUCORE_JOIN)
    return()
  endif()
  if("REUSE_FROM" IN_LIST ARGN)
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # ccache must see the contents
  else()
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # ccache compares the contents
  endif()
endfunction()

# cucore_test(name [HEADER... | REUSE_FROM test]): a target of GoogleTest files, to be called when it has them. Not optimised:
# more time goes into compiling them than into running them, so they are joined too. HEADERs, which most of many files
# include, are compiled once; those of another test serve as well.
function(cucore_test name)
  cucore_target(${name})
  target_compile_options(${name} PRIVATE -O0)
  if(CUCORE_SANITIZE STREQUAL "address")  # which looks for undefined behaviour in what is tested
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  if(ARGN)
    cucore_precompile(${name} ${ARGN})
  endif()
  cucore_join(${name})
endfunction()

# cucore_join(name [FILE...]): up to eight files of a target that lie in one folder are compiled at once, since most of the
# time goes into the headers they share. So in a folder no two files have the same name for different things in an anonymous
# namespace. All but FILEs, which stay by themselves. To be called when the target has its sources.
function(cucore_join name)
  if(NOT CUCORE_JOIN)
    return()
  endif()
  set(most 8)
  get_target_property(sources ${name} SOURCES)
  foreach(source IN LISTS sources)
    if(source IN_LIST ARGN OR NOT source MATCHES "[.]cpp$" OR source MATCHES "^\\$<")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR batch "${count_${folder}} / ${most}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  target_compile_options(${name} PRIVATE -Wno-shadow)  # of names in another file: clang-tidy has the same check, file by file
endfunction()
