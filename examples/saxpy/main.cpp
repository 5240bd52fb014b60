// Instantiates a kernel template by name for several types, and keeps what was compiled.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <iterator>
#include <string>

template <class T>
bool run(const cucore::ObjectCode& code, const std::string& type, const cucore::Stream& stream) {
  const cucore::Kernel axpy = code.get_kernel("axpy<" + type + ">");
  constexpr int n = 10'000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x_memory = pinned->allocate(n * sizeof(T), stream);
  const cucore::Buffer y_memory = pinned->allocate(n * sizeof(T), stream);
  T* const x = reinterpret_cast<T*>(x_memory.handle());
  T* const y = reinterpret_cast<T*>(y_memory.handle());
  for (int i = 0; i < n; ++i) x[i] = T(i), y[i] = 1;

  cucore::launch(stream, {.grid = {8}, .block = {128}}, axpy, T(2), x_memory, y_memory, n);
  stream.sync();

  for (int i = 0; i < n; ++i)
    if (y[i] != T(2 * i + 1)) return std::printf("element %d is wrong\n", i), false;
  std::printf("axpy<%s>: the last is %g\n", type.c_str(), double(y[n - 1]));
  return true;
}

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  std::ifstream file(EXAMPLES "/saxpy/kernels.cu");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const cucore::Program program(source, "c++", {.arch = "sm_" + device.arch()});
  cucore::ProgramCache cache;
  const cucore::ObjectCode code =
      program.compile("cubin", {"axpy<float>", "axpy<double>", "axpy<int>"}, {.cache = &cache});

  const bool right =
      run<float>(code, "float", stream) && run<double>(code, "double", stream) && run<int>(code, "int", stream);
  return right ? 0 : 1;
}
