# cucore_embed(target kernels.cu... [NAMESPACE name] [STD c++17] [ARCHITECTURES sm_80 sm_90...] [INCLUDE_DIRECTORIES...])
#
# For each source a header, `kernels.cu.hpp`, that the target can include: in it one function for each kernel,
#
#   #include "kernels.cu.hpp"
#   kernels::saxpy(stream, {.grid = {blocks}, .block = {256}}, 2.0f, x, y, n);
#
# with the parameters that the kernel has, in the namespace NAMESPACE, else one called as the file. The header holds the
# source, which NVRTC compiles when a kernel is first launched, or, with ARCHITECTURES, the code for these, compiled when
# the target is built (NVRTC is needed there, and not where the program runs; the PTX of each is kept beside it, for newer
# devices). INCLUDE_DIRECTORIES are for that compile alone. Kernels that are templates get no function.
function(cucore_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 _embed "" "NAMESPACE;STD" "ARCHITECTURES;INCLUDE_DIRECTORIES")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "cucore_embed: there is no target ${target}")
  endif()
  if(NOT _embed_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cucore_embed: no source is named for ${target}")
  endif()
  if(_embed_INCLUDE_DIRECTORIES AND NOT _embed_ARCHITECTURES)
    message(FATAL_ERROR "cucore_embed: INCLUDE_DIRECTORIES are for a compile ahead: give ARCHITECTURES as well")
  endif()
  set(options "")
  if(_embed_STD)
    list(APPEND options --std ${_embed_STD})
  endif()
  foreach(architecture IN LISTS _embed_ARCHITECTURES)
    list(APPEND options --arch ${architecture})
  endforeach()
  foreach(folder IN LISTS _embed_INCLUDE_DIRECTORIES)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    list(APPEND options --include ${folder})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/cucore_embed/${target})
  file(MAKE_DIRECTORY ${folder})
  foreach(source IN LISTS _embed_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source FILENAME name)
    set(namespace ${_embed_NAMESPACE})
    if(NOT namespace)
      cmake_path(GET source STEM LAST_ONLY namespace)
      string(MAKE_C_IDENTIFIER ${namespace} namespace)
    endif()
    add_custom_command(
      OUTPUT ${folder}/${name}.hpp
      COMMAND cucore::embed --output ${folder}/${name}.hpp --namespace ${namespace} ${options} ${source}
      DEPENDS ${source} cucore::embed
      COMMENT "Embedding ${name}"
      VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${name}.hpp)
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE cucore::cucore)
endfunction()
