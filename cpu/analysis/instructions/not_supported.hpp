// The failure of this room, NotSupported: which part of an instruction is not supported.
#pragma once

#include <string>
#include <utility>

#include "cpu/error/result.hpp"

namespace cucore::cpu::analysis {

inline Failure not_supported(std::string what) { return Failure(ErrorCode::NotSupported, std::move(what)); }

/// Success if it `holds`.
inline Result<void> require(bool holds, const char* else_what) {
  if (holds) return {};
  return not_supported(else_what);
}

}  // namespace cucore::cpu::analysis
