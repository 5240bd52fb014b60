// Elements that lanes hold: see warp_product.hpp.
#include "cpu/device_library/warp_product.hpp"

#include <map>
#include <tuple>

namespace cucore::cpu::device_library {

using analysis::Element;
using analysis::elements_of;
using analysis::MatrixForm;
using analysis::MatrixRole;
using analysis::Place;
using analysis::place_of;
using analysis::row_of_sparse;

std::vector<std::uint32_t> rows_of_sparse(void* const* lanes, const MatrixForm& form) {
  std::uint32_t metadata[warp_lanes] = {};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    if (lanes[lane] != nullptr) metadata[lane] = static_cast<const WarpMultiplication*>(lanes[lane])->metadata;
  std::vector<std::uint32_t> rows;
  rows.reserve(std::size_t{form.m} * form.stored_k());
  for (std::uint32_t m = 0; m < form.m; ++m)
    for (std::uint32_t k = 0; k < form.stored_k(); ++k) rows.push_back(row_of_sparse(form, m, k, metadata));
  return rows;
}

const std::vector<std::uint32_t>& places_of(const MatrixForm& form, MatrixRole role, Element element) {
  using Key = std::tuple<std::uint64_t, MatrixRole, Element>;
  // Never destroyed: threads may still run kernels when the process ends.
  thread_local auto& made = *new std::map<Key, std::vector<std::uint32_t>>;
  std::vector<std::uint32_t>& places = made[{form.bits(), role, element}];
  if (!places.empty()) return places;
  const std::uint32_t count = elements_of(form, role);
  const std::uint32_t columns = role == MatrixRole::A ? form.stored_k() : form.n;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    for (std::uint32_t index = 0; index < count; ++index) {
      const Place at = place_of(form, role, element, lane, index);
      places.push_back(at.row * columns + at.column);
    }
  }
  return places;
}

}  // namespace cucore::cpu::device_library
