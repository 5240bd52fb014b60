// Links two files with optimisation across them (LTO): the call of a function in the other file is inlined.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <iterator>
#include <string>

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const std::string arch = "sm_" + device.arch();
  const auto unit = [&](const std::string& name) {  // the LTO-IR of a file
    std::ifstream file(EXAMPLES "/lto_linking/" + name);
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    return cucore::Program(source, "c++", {.arch = arch, .link_time_optimization = true}).compile("ltoir");
  };

  const cucore::Linker linker({unit("kernels.cu"), unit("function.cu")},
                              {.arch = arch, .link_time_optimization = true});
  const cucore::Kernel apply = linker.link("cubin").get_kernel("apply");

  constexpr int n = 1000;
  const cucore::Buffer x = cucore::LegacyPinnedMemoryResource::create()->allocate(n * sizeof(float), stream);
  float* const values = reinterpret_cast<float*>(x.handle());
  for (int i = 0; i < n; ++i) values[i] = float(i);
  cucore::launch(stream, {.grid = {4}, .block = {256}}, apply, x, n);
  stream.sync();

  for (int i = 0; i < n; ++i)
    if (values[i] != float(3 * i + 1)) return std::printf("element %d is wrong\n", i), 1;
  std::printf("kernels ['%s']; 3 * %d + 1 = %g\n", apply.name().c_str(), n - 1, double(values[n - 1]));
}
