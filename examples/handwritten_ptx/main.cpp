// A kernel written in PTX by hand, with instructions that C++ has no word for.
#include <bit>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <iterator>
#include <numeric>

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  std::ifstream file(EXAMPLES "/handwritten_ptx/bits.ptx");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const cucore::Kernel bits =
      cucore::Program(source, "ptx", {.arch = "sm_" + device.arch()}).compile("cubin").get_kernel("bits");
  std::printf("%s\n", bits.signature()->text().c_str());

  constexpr unsigned n = 1000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  cucore::Buffer buffers[3];
  for (cucore::Buffer& buffer : buffers) buffer = pinned->allocate(n * sizeof(unsigned), stream);
  const auto values = [](const cucore::Buffer& buffer) { return reinterpret_cast<unsigned*>(buffer.handle()); };
  const auto& [numbers, counts, highest] = buffers;
  std::iota(values(numbers), values(numbers) + n, 1u);
  cucore::launch(stream, {.grid = {4}, .block = {256}}, bits, numbers, counts, highest, n);
  stream.sync();

  for (unsigned i = 0; i < n; ++i)
    if (values(counts)[i] != unsigned(std::popcount(i + 1)) ||
        values(highest)[i] != unsigned(std::bit_width(i + 1)) - 1)
      return std::printf("number %u is wrong\n", i + 1), 1;
  std::printf("%u has %u bits, the highest at %u\n", n, values(counts)[n - 1], values(highest)[n - 1]);
}
