// Attention as transformers compute it, in one pass over keys and values; the sizes are template arguments.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

constexpr unsigned heads = 4, length = 256, width = 32;

/// Whether `out` is what the definition says for one query, `row` of all heads.
bool is_right(const float* q, const float* k, const float* v, const float* out, unsigned row) {
  const unsigned head = row / length * length;  // its first key
  std::vector<double> shares(length);
  for (unsigned j = 0; j < length; ++j) {
    for (unsigned d = 0; d < width; ++d) shares[j] += double(q[row * width + d]) * k[(head + j) * width + d];
    shares[j] /= std::sqrt(double(width));
  }
  const double top = std::ranges::max(shares);
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - top);
  for (unsigned d = 0; d < width; ++d) {
    double expected = 0;
    for (unsigned j = 0; j < length; ++j) expected += shares[j] / sum * v[(head + j) * width + d];
    if (std::abs(out[row * width + d] - expected) > 1e-5) return false;
  }
  return true;
}

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  std::ifstream file(EXAMPLES "/attention/kernels.cu");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const std::string name = "attention<32, 64>";  // 32 numbers a head, tiles of 64 keys
  const cucore::Kernel attention =
      cucore::Program(source, "c++", {.arch = "sm_" + device.arch()}).compile("cubin", {name}).get_kernel(name);

  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const auto values = [](const cucore::Buffer& buffer) { return reinterpret_cast<float*>(buffer.handle()); };
  cucore::Buffer arrays[4];
  for (unsigned number = 0; number < 4; ++number) {
    arrays[number] = pinned->allocate(heads * length * width * sizeof(float), stream);
    for (unsigned i = 0; i < heads * length * width; ++i)
      values(arrays[number])[i] = 2 * std::sin(float(i * (number + 1)) * 0.7f);
  }
  const auto& [q, k, v, out] = arrays;
  cucore::launch(stream, {.grid = {length / 64, heads}, .block = {64}}, attention, q, k, v, out, int(length));
  stream.sync();

  for (unsigned row = 0; row < heads * length; ++row)
    if (!is_right(values(q), values(k), values(v), values(out), row)) return std::printf("row %u is wrong\n", row), 1;
  std::printf("%u heads of %u queries, all right to 0.00001\n", heads, length);
}
