// The texture unit: see sampler.hpp.
//
// A fetch goes: level of detail → (for a cube: direction → face) → for each axis the texels it falls on and their
// weights → the address mode gives each an index, or the border → decode and add up. Coordinates are computed in
// double precision, in which scaling a float coordinate by the size is exact.
#include "cpu/runtime/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cpu/runtime/texture.hpp"

namespace cucore::cpu::runtime {

namespace {

namespace op = texel_operation;

constexpr std::int64_t kBorder = -1;
constexpr double kFractionSteps = 256.0;  // weights are 1.8 fixed point

struct Texel {
  float value[4];
};

/// Where a coordinate falls on one axis: one texel, or two with a weight for the second.
struct Taps {
  std::int64_t index[2] = {0, 0};
  double weight = 0.0;  ///< of index[1]
  int count = 1;
};

struct Face {
  std::int64_t index;
  double u, v;  ///< 0 to 1
};

float float_of(std::uint32_t word) { return std::bit_cast<float>(word); }

/// Far beyond any texture, and safe to turn into an integer; NaN becomes 0.
double bounded(double coordinate) {
  constexpr double kFar = 1099511627776.0;
  return std::isnan(coordinate) ? 0.0 : std::clamp(coordinate, -kFar, kFar);
}

std::int64_t remainder(std::int64_t index, std::int64_t size) {
  const std::int64_t left = index % size;
  return left < 0 ? left + size : left;
}

std::int64_t resolve(std::int64_t index, std::int64_t size, CUaddress_mode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return remainder(index, size);
    case CU_TR_ADDRESS_MODE_MIRROR: {
      const std::int64_t place = remainder(index, 2 * size);
      return place < size ? place : 2 * size - 1 - place;
    }
    case CU_TR_ADDRESS_MODE_BORDER:
      return kBorder;
    default:
      return std::clamp<std::int64_t>(index, 0, size - 1);
  }
}

Face face_of(const double (&direction)[3]) {
  const double x = direction[0], y = direction[1], z = direction[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::int64_t index;
  double s, t, major;
  if (ax >= ay && ax >= az) {
    index = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    major = ax;
  } else if (ay >= az) {
    index = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    major = ay;
  } else {
    index = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    major = az;
  }
  if (!(major > 0)) return {index, 0.5, 0.5};
  return {index, (s / major + 1) / 2, (t / major + 1) / 2};
}

/// The direction of a point of a face, also beyond its edges.
void direction_of(const Face& face, double (&direction)[3]) {
  const double s = 2 * face.u - 1, t = 2 * face.v - 1;
  const double table[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
  std::copy(std::begin(table[face.index]), std::end(table[face.index]), direction);
}

class Fetch {
 public:
  Fetch(const ResourceObject& texture, std::uint32_t operation, const TexelRequest& request,
        codegen::SelfChecks& checks)
      : texture_(texture),
        operation_(operation),
        request_(request),
        checks_(checks),
        dimensions_(operation & op::kDimensions) {
    is_cube_ = has(op::kCube);
    is_normalized_ =
        is_cube_ || (!has(op::kIntegerCoordinates) && (texture.texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0);
    is_linear_memory_ = texture.resource.resType == CU_RESOURCE_TYPE_LINEAR;
    reads_integers_ = reads_integers(texture);
    filters_ = texture.texture.filterMode == CU_TR_FILTER_MODE_LINEAR && !has(op::kIntegerCoordinates) &&
               !is_linear_memory_ && !reads_integers_;  // there is nothing between integers
    is_srgb_ = (texture.texture.flags & CU_TRSF_SRGB) != 0 && texture.format.can_be_srgb() && !reads_integers_;
    is_seamless_ = is_cube_ && texture.is_cubemap && (texture.texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  }

  void run(std::uint32_t (&texel)[4]) {
    if (has(op::kGather)) return gather(texel);
    if (reads_integers_) {
      place(level_near(level_of_detail()));
      const std::int64_t x = taps_[0].index[0], y = taps_[1].index[0], z = taps_[2].index[0];
      for (unsigned int c = 0; c < 4; ++c) texel[c] = word_at(x, y, z, c);
      return;
    }
    const Texel result = filtered();
    for (unsigned int c = 0; c < 4; ++c) {
      texel[c] = has(op::kHalfResult) ? half_of(result.value[c]) : std::bit_cast<std::uint32_t>(result.value[c]);
    }
  }

 private:
  bool has(std::uint32_t bit) const { return (operation_ & bit) != 0; }

  // ---- level of detail
  // -----------------------------------------------------------------------------------------------

  double level_of_detail() const {
    if (!has(op::kLevel) && !has(op::kGradient)) return 0.0;
    const CUDA_TEXTURE_DESC& d = texture_.texture;
    double level = has(op::kLevel) ? bounded(float_of(request_.level)) : std::log2(std::max(footprint(), 0x1p-64));
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
        double from[3], to[3];
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
    if (texture_.texture.mipmapFilterMode == CU_TR_FILTER_MODE_POINT) {
      place(level_near(level));
      return blend();
    }
    const double steps = std::floor(level * kFractionSteps + 0.5);
    const auto lower = static_cast<std::size_t>(steps / kFractionSteps);
    const double weight = steps / kFractionSteps - static_cast<double>(lower);
    place(texture_.levels[lower]);
    Texel result = blend();
    if (weight == 0.0) return result;
    place(texture_.levels[lower + 1]);
    const Texel upper = blend();
    for (unsigned int c = 0; c < 4; ++c) {
      result.value[c] = static_cast<float>((1 - weight) * result.value[c] + weight * upper.value[c]);
    }
    return result;
  }

  // ---- from coordinates to texels
  // ------------------------------------------------------------------------------------

  /// Finds the texels of a level that the request falls on.
  void place(const TexelGrid& grid) {
    grid_ = &grid;
    layer_ = 0;
    const std::int64_t sizes[3] = {grid.width, grid.height, grid.depth};
    double coordinates[3] = {0, 0, 0};
    std::uint32_t axes = dimensions_;
    for (unsigned int axis = 0; axis < dimensions_; ++axis) {
      coordinates[axis] = has(op::kIntegerCoordinates)
                              ? static_cast<double>(static_cast<std::int32_t>(request_.coordinates[axis]))
                              : bounded(float_of(request_.coordinates[axis]));
    }
    if (has(op::kLayered)) {
      const std::int64_t layers = is_cube_ ? grid.depth / 6 : grid.depth;
      layer_ =
          std::clamp<std::int64_t>(static_cast<std::int32_t>(request_.layer), 0, std::max<std::int64_t>(layers, 1) - 1);
    }
    if (is_cube_) {
      const Face face = face_of(coordinates);
      layer_ = 6 * layer_ + face.index;
      coordinates[0] = face.u;
      coordinates[1] = face.v;
      axes = 2;
    }
    for (unsigned int axis = 0; axis < 3; ++axis) {
      taps_[axis] = axis < axes ? taps(coordinates[axis], sizes[axis], mode_of(axis),
                                       static_cast<std::int32_t>(request_.offsets[axis]))
                                : Taps{};
    }
    if (has(op::kLayered) || is_cube_) taps_[2].index[0] = std::min(layer_, grid.depth - 1);
    if (checks_.are_wanted()) check_texels();
  }

  /// Beyond the edge of a face lie others of the same array, so one on the face stands for them.
  void check_texels() {
    const auto on_face = [&](std::int64_t index, std::int64_t size) {
      return is_seamless_ ? std::clamp<std::int64_t>(index, 0, size - 1) : index;
    };
    for (int k = 0; k < taps_[2].count; ++k) {
      for (int j = 0; j < taps_[1].count; ++j) {
        for (int i = 0; i < taps_[0].count; ++i) {
          if (!has(op::kGather) && weight_of(0, i) * weight_of(1, j) * weight_of(2, k) == 0.0) continue;
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
    if (is_cube_) return CU_TR_ADDRESS_MODE_CLAMP;
    const CUaddress_mode mode = texture_.texture.addressMode[axis];
    const bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
    return repeats && !is_normalized_ ? CU_TR_ADDRESS_MODE_CLAMP : mode;
  }

  Taps taps(double coordinate, std::int64_t size, CUaddress_mode mode, std::int32_t offset) const {
    if (is_normalized_) coordinate = bounded(coordinate * static_cast<double>(size));
    Taps made;
    if (!filters_ && !has(op::kGather)) {
      made.index[0] = resolve(static_cast<std::int64_t>(std::floor(coordinate)) + offset, size, mode);
      return made;
    }
    const auto steps = static_cast<std::int64_t>(std::floor((coordinate - 0.5) * kFractionSteps + 0.5));
    const std::int64_t first = (steps >> 8) + offset;
    made.weight = static_cast<double>(steps & 255) / kFractionSteps;
    made.count = 2;
    for (int n = 0; n < 2; ++n) made.index[n] = is_seamless_ ? first + n : resolve(first + n, size, mode);
    return made;
  }

  // ---- texels
  // --------------------------------------------------------------------------------------------------------

  /// Null: the border.
  const std::byte* address(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x == kBorder || y == kBorder || z == kBorder || !checks_.may_happen()) return nullptr;
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
    return texel == nullptr ? border(channel) : decoded(texel, channel);
  }

  float decoded(const std::byte* texel, unsigned int channel) const {
    if (channel >= texture_.format.channels) return 0.0F;
    const float value = channel_float(texture_.format, texel, channel);
    return is_srgb_ && channel < 3 ? linear_of_srgb(value) : value;
  }

  /// A texel of a face, or of the neighbour on which one outside the face lies; the mean of three at a corner.
  float float_beyond_edges(std::int64_t x, std::int64_t y, std::int64_t z, unsigned int channel) const {
    const std::int64_t size = grid_->width;
    const bool x_out = x < 0 || x >= size, y_out = y < 0 || y >= size;
    if (x_out && y_out) {
      const std::int64_t inner_x = std::clamp<std::int64_t>(x, 0, size - 1);
      const std::int64_t inner_y = std::clamp<std::int64_t>(y, 0, size - 1);
      return (float_beyond_edges(inner_x, inner_y, z, channel) + float_beyond_edges(x, inner_y, z, channel) +
              float_beyond_edges(inner_x, y, z, channel)) /
             3.0F;
    }
    if (x_out || y_out) {
      const auto extent = static_cast<double>(size);
      double direction[3];
      direction_of({z % 6, (static_cast<double>(x) + 0.5) / extent, (static_cast<double>(y) + 0.5) / extent},
                   direction);
      const Face face = face_of(direction);
      const auto texel_of = [&](double part) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(part * extent)), 0, size - 1);
      };
      x = texel_of(face.u);
      y = texel_of(face.v);
      z = std::min(z / 6 * 6 + face.index, grid_->depth - 1);
    }
    return decoded(address(x, y, z), channel);
  }

  Texel blend() const {
    double sums[4] = {0, 0, 0, 0};
    const unsigned int channels = has_border() ? 4 : texture_.format.channels;
    for (int k = 0; k < taps_[2].count; ++k) {
      for (int j = 0; j < taps_[1].count; ++j) {
        for (int i = 0; i < taps_[0].count; ++i) {
          const double weight = weight_of(0, i) * weight_of(1, j) * weight_of(2, k);
          if (weight == 0.0) continue;
          for (unsigned int c = 0; c < channels; ++c) {
            const double value = float_at(taps_[0].index[i], taps_[1].index[j], taps_[2].index[k], c);
            sums[c] += weight == 1.0 ? value : weight * value;
          }
        }
      }
    }
    Texel result;
    for (unsigned int c = 0; c < 4; ++c) result.value[c] = static_cast<float>(sums[c]);
    return result;
  }

  bool has_border() const {
    return std::any_of(std::begin(taps_), std::end(taps_), [](const Taps& taps) {
      return taps.index[0] == kBorder || (taps.count == 2 && taps.index[1] == kBorder);
    });
  }

  double weight_of(unsigned int axis, int tap) const {
    const Taps& taps = taps_[axis];
    if (taps.count == 1) return 1.0;
    return tap == 0 ? 1.0 - taps.weight : taps.weight;
  }

  /// One channel of the four texels around, counter-clockwise from the lower left.
  void gather(std::uint32_t (&texel)[4]) {
    constexpr int kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const unsigned int channel = operation_ >> op::kChannelShift & 3;
    place(texture_.levels.front());
    for (unsigned int n = 0; n < 4; ++n) {
      const std::int64_t x = taps_[0].index[kOrder[n][0]], y = taps_[1].index[kOrder[n][1]], z = taps_[2].index[0];
      if (reads_integers_) {
        texel[n] = word_at(x, y, z, channel);
      } else {
        const float value = float_at(x, y, z, channel);
        texel[n] = has(op::kHalfResult) ? half_of(value) : std::bit_cast<std::uint32_t>(value);
      }
    }
  }

  const ResourceObject& texture_;
  const std::uint32_t operation_;
  const TexelRequest& request_;
  codegen::SelfChecks& checks_;
  const std::uint32_t dimensions_;
  bool is_cube_, is_normalized_, is_linear_memory_, filters_, reads_integers_, is_srgb_, is_seamless_;
  const TexelGrid* grid_ = nullptr;
  std::int64_t layer_ = 0;
  Taps taps_[3];
};

}  // namespace

void sample(const ResourceObject& texture, std::uint32_t operation, const TexelRequest& request,
            codegen::SelfChecks& checks, std::uint32_t (&texel)[4]) {
  Fetch(texture, operation, request, checks).run(texel);
  if (!checks.may_happen()) std::fill(std::begin(texel), std::end(texel), 0);
}

}  // namespace cucore::cpu::runtime
