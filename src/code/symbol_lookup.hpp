// Which symbol a C++ name means, and which names are close to one that is not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

/// A mangled function or variable as it is named in the source: "ns::fill<int>" of "_ZN2ns4fillIiEEvPT_"; the symbol
/// itself if it is not mangled.
std::string source_name(const std::string& symbol);

/// Those of `symbols` that `spelling` can mean: "ns::fill<int>", "&ns::fill<int>", "fill< unsigned >" and the like, in
/// the order of `symbols`. White space, a leading & or ::, the place of const and the usual names of the integer types
/// make no difference; template arguments have to be there, the parameter list must not.
std::vector<std::string> symbols_spelled(std::string_view spelling, const std::vector<std::string>& symbols);

/// The symbol of a variable in namespaces, "_ZN1a1bE" of "a::b"; empty if `name` is not such a name.
std::string symbol_of_variable(std::string_view name);

/// Advice for a name that was not found: the nearest of `symbols`, and what there is. `what` is "kernels" or
/// "variables".
std::string not_found_hint(std::string_view wanted, const std::vector<std::string>& symbols, std::string_view what);

}  // namespace cucore::detail
