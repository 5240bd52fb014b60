// Wrong input that cucore itself finds: a ValueError of the call, in a sentence, with what to do; of what the driver
// would refuse, too, with the driver's code.
#pragma once

#include <string>
#include <utility>

#include "cucore/error.hpp"

namespace cucore::detail {

[[noreturn]] inline void refuse(std::string call, std::string message, std::string hint = {}) {
  throw ValueError({.call = std::move(call), .message = std::move(message), .hint = std::move(hint)});
}

[[noreturn]] inline void refuse_as_driver(std::string call, std::string message, std::string hint = {}) {
  throw InvalidValueError({.call = std::move(call),
                           .code = 1,
                           .code_name = "CUDA_ERROR_INVALID_VALUE",
                           .message = std::move(message),
                           .hint = std::move(hint)});
}

}  // namespace cucore::detail
