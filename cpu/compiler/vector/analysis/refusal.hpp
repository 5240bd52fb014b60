// How the vector form says that it does not take a kernel: the scalar form is then run.
#pragma once

#include <string>
#include <utility>

#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// `why` are the words of CompileResult::refusal: what stands in the way.
inline Failure refusal(std::string why) { return {ErrorCode::NotSupported, std::move(why)}; }

}  // namespace cucore::cpu::compiler
