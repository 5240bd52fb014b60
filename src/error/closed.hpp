// The error for using a closed object.
#pragma once

#include <string>

#include "cucore/error.hpp"

namespace cucore::detail {

/// Throws StateError: "Stream.sync: the Stream has been closed".
[[noreturn]] inline void refuse_closed(const char* type, const char* call) {
  throw StateError({.call = std::string(type) + "::" + call,
                    .message = std::string("the ") + type + " has been closed; " + call + "() cannot be called on it",
                    .hint = std::string("keep the ") + type + " open as long as it is used"});
}

}  // namespace cucore::detail
