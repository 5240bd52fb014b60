// Wrong input that cucore itself finds: a ValueError of the call, in a sentence, with what to do.
#pragma once

#include <string>
#include <utility>

#include "cucore/error.hpp"

namespace cucore::detail {

[[noreturn]] inline void refuse(std::string call, std::string message, std::string hint = {}) {
  throw ValueError({.call = std::move(call), .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace cucore::detail
