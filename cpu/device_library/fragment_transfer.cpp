// Moves matrices by lists of pieces, which are made once for a form: see fragment_transfer.hpp.
#include "cpu/device_library/fragment_transfer.hpp"
#include "cpu/device_library/warp_product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

namespace cucore::cpu::device_library {
namespace {

using analysis::bits_of;
using analysis::elements_of;
using analysis::FragmentForm;
using analysis::MatrixForm;
using analysis::Place;

struct Piece {
  std::uint32_t at;            ///< byte of the registers' array
  std::uint32_t major, minor;  ///< row (of column-major ones column) in memory, and byte in it

  bool is_followed_by(const Piece& other, std::uint32_t bytes) const {
    return other.at == at + bytes && other.major == major && other.minor == minor + bytes;
  }
};

/// Pieces of one length that make up a matrix.
struct Pieces {
  std::uint32_t bytes = 0;
  std::vector<Piece> list;
};

Pieces elements_as_pieces(const FragmentForm& form, bool with_copies) {
  MatrixForm whole;
  whole.m = form.m;
  whole.n = form.n;
  whole.k = form.k;
  const std::uint32_t bits = bits_of(form.element), of_register = std::max(bits, 32U);
  const std::uint32_t distinct = elements_of(whole, form.role), held = form.registers * of_register / bits;
  Pieces pieces{.bytes = bits / 8, .list = {}};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    for (std::uint32_t index = 0; index < (with_copies ? held : distinct); ++index) {
      const Place place = place_of(whole, form.role, form.element, lane, index % distinct);
      const std::uint32_t bit = index * bits;
      const std::uint32_t at = (bit / of_register * warp_lanes + lane) * of_register + bit % of_register;
      const std::uint32_t major = form.is_column_major != 0 ? place.column : place.row;
      const std::uint32_t minor = form.is_column_major != 0 ? place.row : place.column;
      pieces.list.push_back({at / 8, major, minor * bits / 8});
    }
  }
  std::sort(pieces.list.begin(), pieces.list.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
  return pieces;
}

/// Joins two and two as long as all of them can be joined.
void join(Pieces& pieces) {
  constexpr std::uint32_t most = 16;
  while (pieces.bytes < most && pieces.list.size() % 2 == 0) {
    std::vector<Piece> joined;
    for (std::size_t n = 0; n < pieces.list.size(); n += 2) {
      if (!pieces.list[n].is_followed_by(pieces.list[n + 1], pieces.bytes)) return;
      joined.push_back(pieces.list[n]);
    }
    pieces.list = std::move(joined);
    pieces.bytes *= 2;
  }
}

const Pieces& pieces_of(const FragmentForm& form, bool with_copies) {
  // Never destroyed: threads may still run kernels when the process ends.
  thread_local auto& made = *new std::array<std::map<std::uint64_t, Pieces>, 2>;
  thread_local struct {
    std::uint64_t form = 0;
    const Pieces* pieces = nullptr;
  } last[2];  // most kernels load the same kind again
  auto& known = last[with_copies ? 1 : 0];
  if (known.pieces != nullptr && known.form == form.bits()) return *known.pieces;
  const auto [found, is_new] = made[with_copies ? 1 : 0].try_emplace(form.bits());
  if (is_new) {
    found->second = elements_as_pieces(form, with_copies);
    join(found->second);
  }
  known = {form.bits(), &found->second};
  return found->second;
}

/// Calls move(registers' byte, memory's byte) for each piece, with a length the compiler knows.
template <typename Move>
void for_each_piece(const Pieces& pieces, std::uint64_t stride_bytes, const Move& move) {
  const auto all = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes> length) {
    for (const Piece& piece : pieces.list) move(piece.at, piece.major * stride_bytes + piece.minor, length);
  };
  switch (pieces.bytes) {
    case 1:
      return all(std::integral_constant<std::size_t, 1>());
    case 2:
      return all(std::integral_constant<std::size_t, 2>());
    case 4:
      return all(std::integral_constant<std::size_t, 4>());
    case 8:
      return all(std::integral_constant<std::size_t, 8>());
    default:
      return all(std::integral_constant<std::size_t, 16>());
  }
}

using Matrix = std::array<std::array<std::uint16_t, 8>, 8>;

Matrix transposed(const Matrix& matrix) {
  Matrix result;
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t c = 0; c < 8; ++c) result[c][r] = matrix[r][c];
  return result;
}

}  // namespace

bool load_in_pieces(const FragmentForm& form, const void* from, std::uint32_t stride, void* registers) {
  const std::uint32_t bits = bits_of(form.element);
  if (bits < 8) return false;
  for_each_piece(
      pieces_of(form, true), std::uint64_t{stride} * bits / 8, [&](std::size_t at, std::size_t in_memory, auto length) {
        std::memcpy(static_cast<std::byte*>(registers) + at, static_cast<const std::byte*>(from) + in_memory, length);
      });
  return true;
}

bool store_in_pieces(const FragmentForm& form, void* to, std::uint32_t stride, const void* registers) {
  const std::uint32_t bits = bits_of(form.element);
  if (bits < 8) return false;
  for_each_piece(pieces_of(form, false), std::uint64_t{stride} * bits / 8,
                 [&](std::size_t at, std::size_t in_memory, auto length) {
                   std::memcpy(static_cast<std::byte*>(to) + in_memory, static_cast<const std::byte*>(registers) + at,
                               length);
                 });
  return true;
}

// Lane 8 * m + r names row r of matrix m. Register m of lane l holds two neighbours in row l / 4 of matrix m, or in
// column l / 4 of it: all lanes' registers are the matrix, row after row or column after column.

void load_rows_of_warp(std::uint32_t matrices, bool transposes, const void* const* rows, std::uint32_t* registers) {
  for (std::uint32_t m = 0; m < matrices; ++m) {
    Matrix matrix;
    for (std::size_t r = 0; r < matrix.size(); ++r) std::memcpy(&matrix[r], rows[8 * m + r], sizeof matrix[r]);
    if (transposes) matrix = transposed(matrix);
    std::memcpy(registers + std::size_t{m} * warp_lanes, &matrix, sizeof matrix);
  }
}

void store_rows_of_warp(std::uint32_t matrices, bool transposes, void* const* rows, const std::uint32_t* registers) {
  for (std::uint32_t m = 0; m < matrices; ++m) {
    Matrix matrix;
    std::memcpy(&matrix, registers + std::size_t{m} * warp_lanes, sizeof matrix);
    if (transposes) matrix = transposed(matrix);
    for (std::size_t r = 0; r < matrix.size(); ++r) std::memcpy(rows[8 * m + r], &matrix[r], sizeof matrix[r]);
  }
}

}  // namespace cucore::cpu::device_library
