// What the lanes of a warp bring to a product of matrices, and which of its elements they hold.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/analysis/instructions/matrix_form.hpp"

namespace cucore::cpu::device_library {

inline constexpr std::uint32_t warp_lanes = 32;

/// Of one lane.
struct WarpMultiplication {
  analysis::MatrixForm form;
  const void* a;
  const void* b;
  const void* c;
  void* d;
  std::uint32_t metadata;
  const ThreadState* thread = nullptr;  ///< where numbers are checked
};

/// Which row of B each stored element of a sparse A is multiplied with. Lanes that have ended bring no metadata.
std::vector<std::uint32_t> rows_of_sparse(void* const* lanes, const analysis::MatrixForm& form);

/// Where each lane's elements lie in the matrix, row after row: those of lane 0, of lane 1 ... Made once per thread.
const std::vector<std::uint32_t>& places_of(const analysis::MatrixForm& form, analysis::MatrixRole role,
                                            analysis::Element element);

/// Calls visit(lane, index, place) for every element that the lanes chosen hold of a matrix.
template <typename Chosen, typename Visit>
void for_each_element(const analysis::MatrixForm& form, analysis::MatrixRole role, analysis::Element element,
                      const Chosen& chosen, const Visit& visit) {
  const std::uint32_t count = analysis::elements_of(form, role);
  const std::uint32_t* place = places_of(form, role, element).data();
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane, place += count) {
    if (!chosen(lane)) continue;
    for (std::uint32_t index = 0; index < count; ++index) visit(lane, index, place[index]);
  }
}

}  // namespace cucore::cpu::device_library
