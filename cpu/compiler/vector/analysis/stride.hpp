// What is known at compile time about a value across the lanes of the vector form: the same for all, the same or a
// constant step apart within each chunk, or anything.
#pragma once

#include <cstdint>

#include "cpu/compiler/vector/analysis/width.hpp"

namespace cucore::cpu::compiler {

/// Whether a step holds between all lanes of a warp or of the group, too, and low bits known to be zero in their first
/// lane.
struct Span {
  bool holds = false;
  unsigned zeros = 0;
  bool operator==(const Span&) const = default;
};

struct Stride {
  enum class Kind : std::uint8_t { Unknown, Uniform, Strided, Varying };
  Kind kind = Kind::Unknown;
  std::int64_t step = 0;  ///< of Strided: what each lane adds to the one before, in bytes for pointers
  unsigned zeros = 0;     ///< low bits known to be zero in a Uniform value or the first lane of a Strided one's chunks
  Span warp;
  Span group;  ///< in the full version only: in the masked one chunks may be inactive

  static Stride uniform(unsigned zeros = 0) { return {Kind::Uniform, 0, zeros, {true, zeros}, {true, zeros}}; }
  static Stride strided(std::int64_t step, unsigned zeros = 0, Span warp = {}, Span group = {}) {
    return {Kind::Strided, step, zeros, warp.holds ? warp : Span{}, group.holds ? group : Span{}};
  }
  static Stride varying() { return {Kind::Varying, 0, 0, {}, {}}; }
  bool is_uniform() const { return kind == Kind::Uniform; }
  bool is_strided() const { return kind == Kind::Strided; }
  bool is_varying() const { return kind == Kind::Varying; }
  bool is_same_in_chunk() const { return is_uniform() || (is_strided() && step == 0); }
  bool is_same_in_warp() const { return is_same_in_chunk() && warp.holds; }
  bool is_same_in_group() const { return is_same_in_chunk() && group.holds; }
  /// Whether one number gives the values of all lanes.
  bool spans_group() const { return !is_varying() && group.holds; }
  bool operator==(const Stride&) const = default;
};

/// Of a value that is one of two.
Stride join(Stride a, Stride b);
/// Of `a + sign * b` in integers of `width` bits.
Stride sum(Stride a, Stride b, int sign, unsigned width);
/// Of `a * factor`.
Stride scaled(const Stride& a, std::uint64_t factor, unsigned width);
/// The number of low bits in which so many lanes differ, if all others are the same; else 0.
unsigned bits_between(const Stride& stride, Span span, unsigned lanes);

std::int64_t wrapped(std::uint64_t step, unsigned width);
unsigned log2_of(std::uint64_t value);

}  // namespace cucore::cpu::compiler
