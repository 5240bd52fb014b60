// The symbols of code as a linker sees them: read from PTX text and from a cubin's symbol table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

struct CodeSymbol {
  enum Kind { strong, weak, undefined };
  std::string name;
  Kind kind = strong;
  bool is_kernel = false;
  bool is_variable = false;  // known of PTX only
};

/// Symbols that other modules can see or have to supply, in order. Of text that is not PTX, what can be read.
std::vector<CodeSymbol> ptx_symbols(std::string_view ptx);

/// Those of a cubin; none if it is not well-formed.
std::vector<CodeSymbol> cubin_symbols(std::string_view cubin);

/// Names that one of these modules needs and none of them defines, but for those that every CUDA driver supplies
/// (vprintf, malloc and the like) and those of CUDA's device runtime library.
std::vector<std::string> undefined_in(const std::vector<std::string_view>& ptx_modules);

}  // namespace cucore::detail
