// The operations of cp.reduce.async.bulk.tensor, as generated code passes them.
#pragma once

#include <cstdint>

namespace cucore::cpu {

enum class Reduction : std::uint32_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

}  // namespace cucore::cpu
