// The kernels that a source declares, as far as its text tells: no preprocessor, no compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::embed {

struct Parameter {
  std::string type;  ///< in C++ of the host; empty: a type that only the source knows, passed by value
  std::string name;
};

struct Declaration {
  std::string name;  ///< with its namespaces, "ns::fill"
  std::vector<Parameter> parameters;
  std::string text;  ///< as written, in one line
  unsigned line = 0;
  bool is_template = false;
};

/// All __global__ functions, in order; each name once.
std::vector<Declaration> kernels_of(std::string_view source);

}  // namespace cucore::embed
