# With CUCORE_SELF_CONTAINED, what is shipped needs nothing from the system but glibc and libgcc_s. libgcc_s stays
# shared: what unwinds through several libraries needs one that knows them all.

# cucore_self_contained(target): a shared library or program that is shipped.
function(cucore_self_contained target)
  if(CUCORE_SELF_CONTAINED)
    target_link_options(${target} PRIVATE -static-libstdc++)
  endif()
endfunction()

# cucore_find_library(result name): as find_library; of a library that is linked into what is shipped.
function(cucore_find_library result name)
  if(CUCORE_SELF_CONTAINED)
    find_library(${result} lib${name}.a REQUIRED)
  else()
    find_library(${result} ${name} REQUIRED)
  endif()
endfunction()

# cucore_static_dependencies_of_llvm(): LLVM's package names the shared libraries that it needs, as it was built with them.
function(cucore_static_dependencies_of_llvm)
  if(NOT CUCORE_SELF_CONTAINED)
    return()
  endif()
  cucore_find_library(CUCORE_STATIC_ZSTD zstd)
  cucore_find_library(CUCORE_STATIC_ZLIB z)
  mark_as_advanced(CUCORE_STATIC_ZSTD CUCORE_STATIC_ZLIB)
  foreach(pair IN ITEMS "zstd::libzstd_shared=${CUCORE_STATIC_ZSTD}" "ZLIB::ZLIB=${CUCORE_STATIC_ZLIB}")
    string(REGEX MATCH "^(.*)=(.*)$" _ "${pair}")
    set(needed ${CMAKE_MATCH_1})
    if(TARGET ${needed})
      set(file ${CMAKE_MATCH_2})
      get_target_property(configurations ${needed} IMPORTED_CONFIGURATIONS)
      set_target_properties(${needed} PROPERTIES IMPORTED_LOCATION ${file})
      foreach(configuration IN LISTS configurations)
        set_target_properties(${needed} PROPERTIES IMPORTED_LOCATION_${configuration} ${file})
      endforeach()
    endif()
  endforeach()
endfunction()
