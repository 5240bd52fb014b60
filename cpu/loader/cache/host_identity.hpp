// What object code on disk must have in common with this process to be run by it: the processor and the two libraries
// that take part in making code.
#pragma once

#include <string>
#include <string_view>

namespace cucore::cpu::loader {

/// What the processor says of itself and what the system lets programs use of it: all that LLVM looks at, and more. For
/// code that is kept to what `march` has (CompileOptions) only that, if it is a level (x86-64-v2 to v4) of which the
/// processor has all: such code runs on every processor of that level.
std::string_view host_identity(std::string_view march);

/// The library that this code is in.
struct OwnLibrary {
  std::string file;      ///< by the path by which it was opened
  std::string build_id;  ///< the linker's; empty if it was linked without
};
const OwnLibrary& own_library();

/// The build id of the shared library in a file; empty if there is none.
std::string build_id_of_file(const std::string& path);

}  // namespace cucore::cpu::loader
