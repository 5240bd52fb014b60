// Overlaps copies and kernels: parts of an array go through several streams, and events join them at the end.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <vector>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream joined = device.create_stream();

  constexpr unsigned parts = 8, n = 50'000;  // elements a part
  constexpr std::size_t bytes = n * sizeof(float);
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();  // copies from other memory make the host wait
  std::vector<cucore::Buffer> inputs, outputs;
  for (unsigned part = 0; part < parts; ++part) {
    outputs.push_back(pinned->allocate(bytes, joined));
    float* const values = reinterpret_cast<float*>(inputs.emplace_back(pinned->allocate(bytes, joined)).handle());
    for (unsigned i = 0; i < n; ++i) values[i] = float(part * n + i);
  }

  std::vector<cucore::Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(device.create_stream());
  for (unsigned part = 0; part < parts; ++part) {
    const cucore::Stream& stream =
        streams[part % streams.size()];  // in a stream one after the other, beside the others
    const cucore::Buffer x = device.allocate(bytes, stream), y = device.allocate(bytes, stream);
    x.copy_from(inputs[part], stream);
    kernels::roots(stream, {.grid = {(n + 255) / 256}, .block = {256}}, x, y, int(n));
    outputs[part].copy_from(y, stream);
  }
  for (const cucore::Stream& stream : streams) joined.wait(stream.record());  // on the device; the host goes on
  joined.sync();

  float last = 0;
  for (unsigned i = 0; i < parts * n; ++i) {
    last = reinterpret_cast<const float*>(outputs[i / n].handle())[i % n];
    if (std::abs(last - std::sqrt(float(i))) > 1e-4f + 1e-5f * last) return std::printf("root %u is wrong\n", i), 1;
  }
  std::printf("%u parts through %zu streams, all right; the last root is %.3f\n", parts, streams.size(), double(last));
}
