// The inputs of a link: read, named so that messages can tell them apart, and checked for what linkers get wrong
// silently (nvJitLink 13.0 reports success for two definitions of one symbol, and gave no reason for a cubin of another
// architecture).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/linker_session.hpp"

namespace cucore::detail {

struct LinkInputs {
  std::vector<LinkInput> inputs;  ///< as given
  SymbolMapping mapping;          ///< of all

  bool any(CodeType type) const noexcept;
  bool all(CodeType type) const noexcept;
};

/// Reads them. Throws ValueError for a file that cannot be read and code that is empty.
LinkInputs read_inputs(const std::vector<ObjectCode>& codes);

/// Throws ValueError if two of them define one symbol, naming the symbol and both.
void refuse_double_definitions(const LinkInputs& inputs);

/// Throws ValueError for an input that a link for `arch` cannot use, naming both architectures.
void refuse_other_architectures(const LinkInputs& inputs, std::string_view arch);

/// Throws NvJitLinkError if a kernel of the inputs is not in the linked cubin. A cubin without a symbol table passes.
void refuse_lost_kernels(const LinkInputs& inputs, std::string_view cubin, const std::string& description);

/// The PTX modules of all inputs but LTO-IR and libraries, for a link for `arch`. `lacking` names those without any.
std::vector<std::string> ptx_of_inputs(const LinkInputs& inputs, std::string_view arch, std::string& lacking);

}  // namespace cucore::detail
