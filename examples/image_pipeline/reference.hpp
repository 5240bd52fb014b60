// The same job in plain C++ in double precision: what the kernels' results are checked against.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

inline constexpr int radius = 6;
inline constexpr double sigma = 2.0;

inline std::array<float, 2 * radius + 1> weights() {
  std::array<double, 2 * radius + 1> w{};
  double sum = 0;
  for (int i = -radius; i <= radius; ++i)
    sum += w[static_cast<std::size_t>(i + radius)] = std::exp(-i * i / (2 * sigma * sigma));
  std::array<float, 2 * radius + 1> result{};
  std::transform(w.begin(), w.end(), result.begin(), [&](double v) { return static_cast<float>(v / sum); });
  return result;
}

/// An image of doubles, `channels` interleaved; reads outside take the nearest pixel.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::vector<double> values;

  double at(int x, int y, int channel) const {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    return values[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) *
                      static_cast<std::size_t>(channels) +
                  static_cast<std::size_t>(channel)];
  }
};

/// `f(x, y, channel)` at every pixel.
template <class Function>
Image map(const Image& shape, int channels, Function f) {
  Image out{shape.width, shape.height, channels, {}};
  out.values.reserve(static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height) *
                     static_cast<std::size_t>(channels));
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x) {
      for (int c = 0; c < channels; ++c) out.values.push_back(f(x, y, c));
    }
  }
  return out;
}

inline Image blur(const Image& image) {
  const auto w = weights();
  const auto pass = [&](const Image& in, int dx, int dy) {
    return map(in, in.channels, [&](int x, int y, int c) {
      double sum = 0;
      for (int k = -radius; k <= radius; ++k) {
        sum += static_cast<double>(w[static_cast<std::size_t>(k + radius)]) * in.at(x + k * dx, y + k * dy, c);
      }
      return sum;
    });
  };
  return pass(pass(image, 1, 0), 0, 1);
}

inline Image sobel(const Image& gray) {
  return map(gray, 1, [&](int x, int y, int) {
    const auto v = [&](int dx, int dy) { return gray.at(x + dx, y + dy, 0); };
    const double gx = v(1, -1) + 2 * v(1, 0) + v(1, 1) - v(-1, -1) - 2 * v(-1, 0) - v(-1, 1);
    const double gy = v(-1, 1) + 2 * v(0, 1) + v(1, 1) - v(-1, -1) - 2 * v(0, -1) - v(1, -1);
    return std::hypot(gx, gy);
  });
}

inline double luminance(double r, double g, double b) {
  return static_cast<double>(0.2126f) * r + static_cast<double>(0.7152f) * g + static_cast<double>(0.0722f) * b;
}

template <class T>
double largest_difference(const Image& expected, const std::vector<T>& actual) {
  double largest = expected.values.size() == actual.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < actual.size() && i < expected.values.size(); ++i) {
    const double difference = std::abs(expected.values[i] - static_cast<double>(actual[i]));
    largest = difference <= largest ? largest : difference;  // a NaN counts as the largest
  }
  return largest;
}

}  // namespace reference
