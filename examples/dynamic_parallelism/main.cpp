// A kernel that launches itself where more work is needed, linked with the device runtime library.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <iterator>
#include <string>

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  std::ifstream file(EXAMPLES "/dynamic_parallelism/kernels.cu");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const std::string arch = "sm_" + device.arch();
  const cucore::ObjectCode unit =
      cucore::Program(source, "c++", {.arch = arch, .relocatable_device_code = true}).compile("cubin");
  // Of the package nvidia-cuda-runtime; a GPU needs it.
  const auto library = cucore::toolkit_info().nvrtc.path.parent_path() / "libcudadevrt.a";
  const cucore::Kernel integrate =
      cucore::Linker({unit, cucore::ObjectCode::from_file("library", library)}, {.arch = arch})
          .link("cubin")
          .get_kernel("integrate");

  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer total = pinned->allocate(sizeof(double), stream),
                       launches = pinned->allocate(sizeof(int), stream);
  total.fill(0, stream);
  launches.fill(0, stream);
  cucore::launch(stream, {.grid = {1}, .block = {1}}, integrate, 0.0, 1.0, total, launches);
  stream.sync();  // for that kernel and all that came of it

  const double found = *reinterpret_cast<const double*>(total.handle());
  if (std::abs(found - 2.0 / 3) > 1e-5) return std::printf("%g is wrong\n", found), 1;
  std::printf("the integral is %.4f, after %d launches\n", found, *reinterpret_cast<const int*>(launches.handle()));
}
