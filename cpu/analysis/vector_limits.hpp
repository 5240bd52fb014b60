// What keeps a kernel from the vector form, as far as its PTX shows: for compiles, and for the cache, where such a
// kernel is the scalar one whatever was asked for.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::analysis {

/// Local memory of a group.
inline constexpr std::uint64_t largest_group_frames = std::uint64_t{512} * 1024;
/// The most that local variables of lanes side by side are aligned to.
inline constexpr std::uint32_t lane_alignment = 16;

/// In a failure's text, between what keeps a kernel from the vector form and its PTX line.
inline constexpr std::string_view place_of_refusal = " at PTX line ";

/// `why` with the place of a loop that waits for other threads: whether it keeps a kernel from the vector form, only
/// the compile shows.
Failure refuse_waiting(const ptx::Module& module, const Reach& reach, std::string_view why);

/// Whether nothing keeps a kernel in the scalar form so far; else a failure says what, and in which line if it is one
/// instruction. `checks` are those of CompileOptions.
Result<void> check_vector_form(const ptx::Module& module, const Reach& reach, const KernelInfo& info,
                               std::uint32_t checks);

}  // namespace cucore::cpu::analysis
