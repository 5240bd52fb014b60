// The texture unit: see sampler.hpp.
//
// A fetch goes: level of detail → (for a cube: direction → face) → for each axis the texels it falls on and their
// weights → the address mode gives each an index, or the border → decode and add up. The arithmetic is what an H200
// shows, bit by bit: normalised coordinates have 21 fractional bits, what is lost being cut off towards minus infinity;
// places between texels are rounded to 1/256; the weights of all the texels of a fetch are whole 256ths that add up to
// one; their sum is rounded once. Coordinates that are denormal or NaN are zero, so are infinite ones that repeat.
// Doubles hold all of it exactly.
#include "cpu/runtime/texture/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cpu/runtime/texture/block_compression.hpp"
#include "cpu/runtime/texture/texture.hpp"

namespace cucore::cpu::runtime {
namespace {

namespace op = texel_operation;

constexpr std::int64_t border_texel = -1;
constexpr int whole_weight = 256;  // weights are 1.8 fixed point
constexpr double normalized_steps = 2097152.0;

struct Texel {
  float value[4];
};

/// Where a coordinate falls on one axis: one texel, or two with a weight for the second.
struct Taps {
  std::int64_t index[2] = {0, 0};
  int weight = 0;  ///< of index[1], in 256ths
  int count = 1;
};

/// Weights of the texels at index[x], index[y] and index[z] of the three axes, in 256ths: weights[z][y][x].
using Weights = int[2][2][2];

struct Face {
  std::int64_t index;
  double u, v;  ///< 0 to 1
};

float float_of(std::uint32_t word) { return std::bit_cast<float>(word); }

/// A part of `whole` 256ths, rounded half up.
int part(int whole, int weight) { return (whole * weight + whole_weight / 2) / whole_weight; }

/// Shares `whole` out among the texels of a fetch: among slices first, then columns, then rows.
void share(int whole, const Taps (&taps)[3], Weights& weights) {
  const int upper = part(whole, taps[2].weight);
  const int of_slice[2] = {whole - upper, upper};
  for (int z = 0; z < 2; ++z) {
    const int right = part(of_slice[z], taps[0].weight);
    const int left = of_slice[z] - right;
    weights[z][1][1] = part(right, taps[1].weight);
    weights[z][0][1] = right - weights[z][1][1];
    weights[z][0][0] = part(left, whole_weight - taps[1].weight);
    weights[z][1][0] = left - weights[z][0][0];
  }
}

/// The nearest float; of two, the one farther from zero.
float rounded(double value) {
  const auto nearest = static_cast<float>(value);
  if (!(std::fabs(value) > std::fabs(double{nearest}))) return nearest;
  const float beyond = std::nextafter(nearest, std::copysign(INFINITY, nearest));
  return value - nearest == beyond - value ? beyond : nearest;
}

bool is_normalized_integer(const TexelFormat& format) {
  return format.block == BlockFormat::None && format.channel_bytes <= 2 && format.kind != TexelFormat::Kind::Float &&
         format.kind != TexelFormat::Kind::Half;
}

/// A weighted sum of integers of 8 or 16 bits that stand for numbers up to 1: in steps of as many as 16 bits have, the
/// nearest, of two the larger.
float stepped(double value, const TexelFormat& format) {
  const bool has_sign = format.kind == TexelFormat::Kind::Signed || format.kind == TexelFormat::Kind::SignedNormalized;
  const double steps = has_sign ? 32767.0 : 65535.0;
  const double largest = format.channel_bytes == 2 ? steps : has_sign ? 127.0 : 255.0;
  const double sum = std::nearbyint(value * largest * whole_weight);  // the integer that it was
  return static_cast<float>(std::floor(sum * steps / (largest * whole_weight) + 0.5) / steps);
}

/// A level of detail or a length: safe to turn into an integer; NaN becomes 0.
double bounded(double value) {
  constexpr double far_away = 1099511627776.0;
  return std::isnan(value) ? 0.0 : std::clamp(value, -far_away, far_away);
}

float without_denormals(float value) { return std::fabs(value) >= 0x1p-126F ? value : 0.0F; }  // NaN becomes 0 too

bool repeats(CUaddress_mode mode) { return mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR; }

double cut(double normalized) { return std::floor(normalized * normalized_steps) / normalized_steps; }

/// A normalised coordinate, clamped so far outside that no offset brings it back.
double normalized(float coordinate, CUaddress_mode mode) {
  const double value = without_denormals(coordinate);
  if (!repeats(mode)) return cut(std::clamp(value, -4096.0, 4096.0));
  return std::isinf(value) ? 0.0 : cut(std::fmod(value, 2.0));
}

std::int64_t remainder(std::int64_t index, std::int64_t size) {
  const std::int64_t left = index % size;
  return left < 0 ? left + size : left;
}

bool is_beyond(std::int64_t index, std::int64_t size) { return index < 0 || index >= size; }

std::int64_t inside(std::int64_t index, std::int64_t size) { return std::clamp<std::int64_t>(index, 0, size - 1); }

std::int64_t resolve(std::int64_t index, std::int64_t size, CUaddress_mode mode) {
  if (!is_beyond(index, size)) return index;
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return remainder(index, size);
    case CU_TR_ADDRESS_MODE_MIRROR: {
      const std::int64_t place = remainder(index, 2 * size);
      return place < size ? place : 2 * size - 1 - place;
    }
    case CU_TR_ADDRESS_MODE_BORDER:
      return border_texel;
    default:
      return inside(index, size);
  }
}

/// Of the direction's coordinates times the reciprocal of the largest: as on an H200, where it may differ in the last
/// bit. That of the largest floats and of infinities is zero, which makes all zero, and infinities NaN. Of equals the
/// last is taken.
Face face_of(const float (&direction)[3]) {
  const float largest = std::fmax(std::fmax(std::fabs(direction[0]), std::fabs(direction[1])), std::fabs(direction[2]));
  const float reciprocal = without_denormals(1.0F / largest);
  const float scaled[3] = {direction[0] * reciprocal, direction[1] * reciprocal, direction[2] * reciprocal};
  const bool has_depth = !std::isnan(scaled[2]);
  const float x = without_denormals(scaled[0]), y = without_denormals(scaled[1]), z = without_denormals(scaled[2]);
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::int64_t index;
  float s, t;
  if (has_depth && az >= ax && az >= ay) {
    index = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
  } else if (ay >= ax) {
    index = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    index = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
  }
  return {index, (cut(s) + 1) / 2, (cut(t) + 1) / 2};
}

/// The direction of a point of a face, also beyond its edges.
void direction_of(const Face& face, float (&direction)[3]) {
  const double s = 2 * face.u - 1, t = 2 * face.v - 1;
  const double table[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
  for (int axis = 0; axis < 3; ++axis) direction[axis] = static_cast<float>(table[face.index][axis]);
}

class Fetch {
 public:
  Fetch(const ResourceObject& texture, std::uint32_t operation, const TexelRequest& request,
        device_library::SelfChecks& checks)
      : texture_(texture),
        operation_(operation),
        request_(request),
        checks_(checks),
        dimensions_(operation & op::dimension_mask) {
    is_cube_ = has(op::cube_bit);
    is_normalized_ =
        is_cube_ || (!has(op::integer_coordinates) && (texture.texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0);
    is_linear_memory_ = texture.resource.resType == CU_RESOURCE_TYPE_LINEAR;
    reads_integers_ = reads_integers(texture);
    filters_ = texture.texture.filterMode == CU_TR_FILTER_MODE_LINEAR && !has(op::integer_coordinates) &&
               !is_linear_memory_ && !reads_integers_;  // there is nothing between integers
    is_srgb_ = (texture.texture.flags & CU_TRSF_SRGB) != 0 && texture.format.can_be_srgb() && !reads_integers_;
    is_seamless_ = is_cube_ && texture.is_cubemap && (texture.texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  }

  void run(std::uint32_t (&texel)[4]) {
    if (has(op::gather_bit)) return gather(texel);
    if (reads_integers_) {
      place(level_near(level_of_detail()));
      const std::int64_t x = taps_[0].index[0], y = taps_[1].index[0], z = taps_[2].index[0];
      for (unsigned int c = 0; c < 4; ++c) texel[c] = word_at(x, y, z, c);
      return;
    }
    const Texel result = filtered();
    for (unsigned int c = 0; c < 4; ++c) {
      texel[c] = has(op::half_result) ? half_of(result.value[c]) : std::bit_cast<std::uint32_t>(result.value[c]);
    }
  }

 private:
  bool has(std::uint32_t bit) const { return (operation_ & bit) != 0; }

  // ---- level of detail
  // -----------------------------------------------------------------------------------------------

  double level_of_detail() const {
    if (!has(op::level_bit) && !has(op::gradient)) return 0.0;
    const CUDA_TEXTURE_DESC& d = texture_.texture;
    double level = has(op::level_bit) ? bounded(float_of(request_.level)) : std::log2(std::max(footprint(), 0x1p-64));
    if (texture_.has_mipmaps()) {
      level =
          std::max(std::min(level + d.mipmapLevelBias, double{d.maxMipmapLevelClamp}), double{d.minMipmapLevelClamp});
    }
    return std::clamp(bounded(level), 0.0, static_cast<double>(texture_.levels.size() - 1));
  }

  /// Texels of the first level that one step to the next thread spans.
  double footprint() const {
    const TexelGrid& grid = texture_.levels.front();
    const double sizes[3] = {static_cast<double>(grid.width), static_cast<double>(grid.height),
                             static_cast<double>(grid.depth)};
    double longest = 0.0;
    for (unsigned int direction = 0; direction < 2; ++direction) {
      double sum = 0.0;
      if (is_cube_) {
        float from[3], to[3];
        for (unsigned int axis = 0; axis < 3; ++axis) {
          from[axis] = float_of(request_.coordinates[axis]);
          to[axis] = from[axis] + float_of(request_.gradients[3 * direction + axis]);
        }
        const Face a = face_of(from), b = face_of(to);
        const double du = a.index == b.index ? b.u - a.u : 1.0, dv = a.index == b.index ? b.v - a.v : 1.0;
        sum = (du * du + dv * dv) * sizes[0] * sizes[0];
      } else {
        for (unsigned int axis = 0; axis < dimensions_; ++axis) {
          const double step = float_of(request_.gradients[3 * direction + axis]) * (is_normalized_ ? sizes[axis] : 1.0);
          sum += step * step;
        }
      }
      longest = std::max(longest, bounded(sum));
    }
    return std::sqrt(longest);
  }

  const TexelGrid& level_near(double level) const {
    return texture_.levels[static_cast<std::size_t>(std::floor(level + 0.5))];
  }

  Texel filtered() {
    const double level = level_of_detail();
    double sums[4] = {0, 0, 0, 0};
    if (texture_.texture.mipmapFilterMode == CU_TR_FILTER_MODE_POINT) {
      place(level_near(level));
      blend(whole_weight, sums);
    } else {
      const auto steps = static_cast<int>(level * whole_weight);
      const auto lower = static_cast<std::size_t>(steps / whole_weight);
      place(texture_.levels[lower]);
      blend(whole_weight - steps % whole_weight, sums);
      if (steps % whole_weight != 0) {
        place(texture_.levels[lower + 1]);
        blend(steps % whole_weight, sums);
      }
    }
    Texel result;
    const bool is_stepped = filters_ && is_normalized_integer(texture_.format) && !is_srgb_ && !has_border();
    for (unsigned int c = 0; c < 4; ++c)
      result.value[c] = is_stepped ? stepped(sums[c], texture_.format) : rounded(sums[c]);
    return result;
  }

  // ---- from coordinates to texels
  // ------------------------------------------------------------------------------------

  /// Finds the texels of a level that the request falls on.
  void place(const TexelGrid& grid) {
    grid_ = &grid;
    layer_ = 0;
    const std::int64_t sizes[3] = {grid.width, grid.height, grid.depth};
    double places[3] = {0, 0, 0};  // in texels
    std::uint32_t axes = dimensions_;
    if (has(op::layered)) {
      const std::int64_t layers = std::max<std::int64_t>(is_cube_ ? grid.depth / 6 : grid.depth, 1);
      layer_ = std::min<std::int64_t>(request_.layer, layers - 1);  // unsigned: negative ones are beyond the last
    }
    if (is_cube_) {
      const Face face = face_of(
          {float_of(request_.coordinates[0]), float_of(request_.coordinates[1]), float_of(request_.coordinates[2])});
      layer_ = 6 * layer_ + face.index;
      places[0] = face.u * static_cast<double>(grid.width);
      places[1] = face.v * static_cast<double>(grid.height);
      axes = 2;
    } else {
      for (unsigned int axis = 0; axis < axes; ++axis) places[axis] = place_on(axis, sizes[axis]);
      // A texture of one dimension has one row, and is read at the edge of it, half beyond.
      if (axes == 1 && filters_ && !has(op::layered) && mode_of(1) == CU_TR_ADDRESS_MODE_BORDER) axes = 2;
    }
    for (unsigned int axis = 0; axis < 3; ++axis) {
      taps_[axis] = axis < axes ? taps(places[axis], sizes[axis], mode_of(axis),
                                       static_cast<std::int32_t>(request_.offsets[axis]))
                                : Taps{};
    }
    if (has(op::layered) || is_cube_) taps_[2].index[0] = std::min(layer_, grid.depth - 1);
    share(whole_weight, taps_, weights_);
    if (checks_.are_wanted()) check_texels();
  }

  double place_on(unsigned int axis, std::int64_t size) const {
    const std::uint32_t coordinate = request_.coordinates[axis];
    if (has(op::integer_coordinates)) return static_cast<double>(static_cast<std::int32_t>(coordinate));
    if (is_normalized_) return normalized(float_of(coordinate), mode_of(axis)) * static_cast<double>(size);
    return bounded(without_denormals(float_of(coordinate)));
  }

  /// Beyond the edge of a face lie others of the same array, so one on the face stands for them.
  void check_texels() {
    const auto on_face = [&](std::int64_t index, std::int64_t size) {
      return is_seamless_ ? inside(index, size) : index;
    };
    for (int k = 0; k < taps_[2].count; ++k) {
      for (int j = 0; j < taps_[1].count; ++j) {
        for (int i = 0; i < taps_[0].count; ++i) {
          if (!has(op::gather_bit) && weights_[k][j][i] == 0) continue;
          const std::byte* texel = address(on_face(taps_[0].index[i], grid_->width),
                                           on_face(taps_[1].index[j], grid_->height), taps_[2].index[k]);
          if (texel == nullptr) continue;
          checks_.add(texel, static_cast<std::uint32_t>(texture_.format.bytes()));
          if (!checks_.may_happen()) return;  // one of a fetch is enough
        }
      }
    }
  }

  CUaddress_mode mode_of(unsigned int axis) const {
    if (is_linear_memory_) return CU_TR_ADDRESS_MODE_BORDER;
    if (is_seamless_) return CU_TR_ADDRESS_MODE_CLAMP;
    const CUaddress_mode mode = texture_.texture.addressMode[axis];
    return repeats(mode) && !is_normalized_ ? CU_TR_ADDRESS_MODE_CLAMP : mode;
  }

  Taps taps(double place, std::int64_t size, CUaddress_mode mode, std::int32_t offset) const {
    Taps made;
    if (!filters_ && !has(op::gather_bit)) {
      made.index[0] = resolve(static_cast<std::int64_t>(std::floor(place)) + offset, size, mode);
      return made;
    }
    const auto steps = static_cast<std::int64_t>(std::floor((place - 0.5) * whole_weight + 0.5));
    const std::int64_t first = (steps >> 8) + offset;
    made.weight = static_cast<int>(steps & 255);
    made.count = 2;
    for (int n = 0; n < 2; ++n) made.index[n] = is_seamless_ ? first + n : resolve(first + n, size, mode);
    // Beyond the edge there is nothing to be between, which the weights of the other axes show.
    if (mode == CU_TR_ADDRESS_MODE_CLAMP && !is_seamless_ && made.index[0] == made.index[1]) made.weight = 0;
    return made;
  }

  // ---- texels
  // --------------------------------------------------------------------------------------------------------

  /// Null: the border.
  const std::byte* address(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x == border_texel || y == border_texel || z == border_texel || !checks_.may_happen()) return nullptr;
    if (texture_.format.block != BlockFormat::None) {
      x /= side_of_block;
      y /= side_of_block;
    }
    return grid_->base + static_cast<std::size_t>(z) * grid_->slice_bytes +
           static_cast<std::size_t>(y) * grid_->row_bytes + static_cast<std::size_t>(x) * texture_.format.bytes();
  }

  float border(unsigned int channel) const { return is_linear_memory_ ? 0.0F : texture_.texture.borderColor[channel]; }

  std::uint32_t word_at(std::int64_t x, std::int64_t y, std::int64_t z, unsigned int channel) const {
    const std::byte* texel = address(x, y, z);
    if (texel == nullptr) return std::bit_cast<std::uint32_t>(border(channel));
    return channel < texture_.format.channels ? channel_word(texture_.format, texel, channel) : 0;
  }

  float float_at(std::int64_t x, std::int64_t y, std::int64_t z, unsigned int channel) const {
    if (is_seamless_) return float_beyond_edges(x, y, z, channel);
    const std::byte* texel = address(x, y, z);
    return texel == nullptr ? border(channel) : decoded(texel, x, y, channel);
  }

  /// What stands at `texel`, which is (x, y).
  float decoded(const std::byte* texel, std::int64_t x, std::int64_t y, unsigned int channel) const {
    if (channel >= texture_.format.channels) return 0.0F;
    float value = 0;
    if (texture_.format.block == BlockFormat::None) {
      value = channel_float(texture_.format, texel, channel);
    } else {
      float whole[4];
      decode_texel(texture_.format.block, texel, static_cast<unsigned>(x % side_of_block),
                   static_cast<unsigned>(y % side_of_block), whole);
      value = whole[channel];
    }
    return is_srgb_ && channel < 3 ? linear_of_srgb(value) : value;
  }

  /// A texel of a face, or of the neighbour on which one outside the face lies; the mean of three at a corner.
  float float_beyond_edges(std::int64_t x, std::int64_t y, std::int64_t z, unsigned int channel) const {
    const std::int64_t size = grid_->width;
    const bool x_out = is_beyond(x, size), y_out = is_beyond(y, size);
    if (x_out && y_out) {
      const std::int64_t inner_x = inside(x, size), inner_y = inside(y, size);
      return (float_beyond_edges(inner_x, inner_y, z, channel) + float_beyond_edges(x, inner_y, z, channel) +
              float_beyond_edges(inner_x, y, z, channel)) /
             3.0F;
    }
    if (x_out || y_out) {
      const auto extent = static_cast<double>(size);
      float direction[3];
      direction_of({z % 6, (static_cast<double>(x) + 0.5) / extent, (static_cast<double>(y) + 0.5) / extent},
                   direction);
      const Face face = face_of(direction);
      const auto texel_of = [&](double part) {
        return inside(static_cast<std::int64_t>(std::floor(part * extent)), size);
      };
      x = texel_of(face.u);
      y = texel_of(face.v);
      z = std::min(z / 6 * 6 + face.index, grid_->depth - 1);
    }
    return decoded(address(x, y, z), x, y, channel);
  }

  /// Adds the texels found, of which all together weigh `whole` 256ths.
  void blend(int whole, double (&sums)[4]) const {
    Weights weights;
    share(whole, taps_, weights);
    const unsigned int channels = has_border() ? 4 : texture_.format.channels;
    for (int k = 0; k < taps_[2].count; ++k) {
      for (int j = 0; j < taps_[1].count; ++j) {
        for (int i = 0; i < taps_[0].count; ++i) {
          add(taps_[0].index[i], taps_[1].index[j], taps_[2].index[k], weights[k][j][i], channels, sums);
        }
      }
    }
  }

  void add(std::int64_t x, std::int64_t y, std::int64_t z, int weight, unsigned int channels, double (&sums)[4]) const {
    if (weight == 0) return;
    if (is_seamless_ && is_beyond(x, grid_->width) && is_beyond(y, grid_->width)) {
      const std::int64_t inner_x = inside(x, grid_->width), inner_y = inside(y, grid_->width);
      add(inner_x, inner_y, z, weight - weight / 3 * 2, channels, sums);  // three texels meet there, not four
      add(x, inner_y, z, weight / 3, channels, sums);
      add(inner_x, y, z, weight / 3, channels, sums);
      return;
    }
    for (unsigned int c = 0; c < channels; ++c) sums[c] += double{float_at(x, y, z, c)} * weight / whole_weight;
  }

  bool has_border() const {
    return std::any_of(std::begin(taps_), std::end(taps_), [](const Taps& taps) {
      return taps.index[0] == border_texel || (taps.count == 2 && taps.index[1] == border_texel);
    });
  }

  /// One channel of the four texels around, counter-clockwise from the lower left.
  void gather(std::uint32_t (&texel)[4]) {
    constexpr int slot_order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const unsigned int channel = operation_ >> op::channel_shift & 3;
    place(texture_.levels.front());
    for (unsigned int n = 0; n < 4; ++n) {
      const std::int64_t x = taps_[0].index[slot_order[n][0]], y = taps_[1].index[slot_order[n][1]],
                         z = taps_[2].index[0];
      if (reads_integers_) {
        texel[n] = word_at(x, y, z, channel);
      } else {
        const float value = float_at(x, y, z, channel);
        texel[n] = has(op::half_result) ? half_of(value) : std::bit_cast<std::uint32_t>(value);
      }
    }
  }

  const ResourceObject& texture_;
  const std::uint32_t operation_;
  const TexelRequest& request_;
  device_library::SelfChecks& checks_;
  const std::uint32_t dimensions_;
  bool is_cube_, is_normalized_, is_linear_memory_, filters_, reads_integers_, is_srgb_, is_seamless_;
  const TexelGrid* grid_ = nullptr;
  std::int64_t layer_ = 0;
  Taps taps_[3];
  Weights weights_;  ///< of a fetch from one level
};

}  // namespace

void sample(const ResourceObject& texture, std::uint32_t operation, const TexelRequest& request,
            device_library::SelfChecks& checks, std::uint32_t (&texel)[4]) {
  Fetch(texture, operation, request, checks).run(texel);
  if (!checks.may_happen()) std::fill(std::begin(texel), std::end(texel), 0);
}

}  // namespace cucore::cpu::runtime
