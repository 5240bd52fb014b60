// The failure for a kernel that has no vector form: the scalar form runs instead.
#pragma once

#include <string>
#include <utility>

#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// `why` are the words of CompileResult::refusal: what the vector form does not take.
inline Failure refusal(std::string why) { return {ErrorCode::NotSupported, std::move(why)}; }

/// Lanes may wait for others of their own warp, in some loop.
inline constexpr const char* waits_for_threads = "a loop that waits for other threads";

}  // namespace cucore::cpu::compiler
