// The inputs of a link: read, named so that messages can tell them apart, and checked for what linkers get wrong
// silently (nvJitLink 13.0 reports success for two definitions of one symbol, and gave no reason for a cubin of another
// architecture).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cucore/object_code.hpp"
#include "src/link/link_session.hpp"

namespace cucore::detail {

struct LinkInputs {
  std::vector<LinkInput> inputs;  ///< as given
  SymbolMapping mapping;          ///< of all

  bool any(CodeType type) const noexcept;
  bool all(CodeType type) const noexcept;
};

/// "input 'saxpy' (ptx)".
std::string quoted(const LinkInput& input);

/// Reads them. Throws ValueError for a file that cannot be read, code that is empty, cut off or not what its type says,
/// and objects whose device code linkers do not look at.
LinkInputs read_inputs(const std::vector<ObjectCode>& codes);

/// Whether it cannot be the PTX or LTO-IR that its type says, at a glance.
bool looks_like_no_code(const LinkInput& input);

/// Throws ValueError for an input that a link for `arch` cannot use, naming both architectures.
void refuse_other_architectures(const LinkInputs& inputs, std::string_view arch);

// linker_symbols.cpp

/// Throws ValueError if one symbol is defined twice, by two inputs or inside one (members of a library), naming the
/// symbol and both places. A linker takes all members of a library, needed or not. Weak definitions may repeat. With an
/// empty `arch`, only definitions that are in the images for all architectures count. What LTO-IR defines is not known.
void refuse_double_definitions(const LinkInputs& inputs, std::string_view arch);

/// Throws ValueError if `ptx`, made of the LTO-IR among the inputs, defines what another input defines too: linkers let
/// that pass. Functions that the optimiser has dropped are not in it.
void refuse_definitions_of_ir(const LinkInputs& inputs, std::string_view arch, std::string_view ptx);

/// Throws NvJitLinkError if a kernel of the inputs is not in the linked cubin. A cubin without a symbol table passes.
void refuse_lost_kernels(const LinkInputs& inputs, std::string_view arch, std::string_view cubin,
                         const std::string& description);

// linker_ptx.cpp

/// The PTX modules of all inputs but LTO-IR, for a link for `arch`, named as messages want them. Of a library only the
/// members that have kernels or something that the others need. `lacking` names the inputs without PTX, with the
/// reason.
std::vector<LinkInput> ptx_of_inputs(const LinkInputs& inputs, std::string_view arch, std::string& lacking);

/// The inputs whose LTO-IR is linked: LTO-IR itself, and objects, libraries and fat binaries that have nothing else for
/// `arch` in some part (in a form that only NVIDIA's linkers read).
std::vector<LinkInput> ir_of_inputs(const LinkInputs& inputs, std::string_view arch);

// linker_keeper.cpp

inline constexpr std::string_view keeper_name = "__cucore_keeps";

/// The functions that one of these modules calls and none of them defines.
std::vector<std::string> functions_missing_in(const std::vector<std::string>& ptx_modules);

/// LTO-IR for `arch` with which link-time optimisation keeps these functions of other LTO-IR. Throws NvrtcError,
/// UnavailableError.
LinkInput keeper_of(const std::vector<std::string>& functions, std::string_view arch);

/// The PTX that nvJitLink made of LTO-IR and that keeper, without the keeper: other modules see the functions.
std::string without_keeper(std::string_view ptx, const std::vector<std::string>& functions);

}  // namespace cucore::detail
