# Writes the header TO with a hash of the headers FILES (a list with commas): see CompilerLibrary.
string(REPLACE "," ";" files "${FILES}")
set(digests "")
foreach(file IN LISTS files)
  file(SHA256 ${file} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 stamp "${digests}")
file(CONFIGURE OUTPUT ${TO} CONTENT
[[// Generated: which objects the driver and its compiler pass to each other.
#pragma once
namespace cucore::cpu {
inline constexpr char compiler_interface[] = "@stamp@";
}
]] @ONLY)
