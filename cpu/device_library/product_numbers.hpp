// What the checker of numbers is told of a warp's product of matrices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/device_library/warp_product.hpp"

namespace cucore::cpu::device_library {

/// Whether an element of the product may be worth a report, by as many registers of c and d: quick, and true of more.
bool may_be_notable(const analysis::MatrixForm& form, const void* c, const void* d, std::size_t registers);

/// Tells of a product whose elements are worth a look. `lanes`: a WarpMultiplication of each, or null; `first`: the
/// warp's first thread; `line`: of the PTX.
void tell_of_products(void* const* lanes, const analysis::MatrixForm& form, const BlockState* block,
                      std::uint32_t first, std::uint32_t line);

}  // namespace cucore::cpu::device_library
