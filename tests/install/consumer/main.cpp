// Ten lines of a consumer: says which driver runs kernels here, or why none does.
#include <cucore/cucore.hpp>
#include <iostream>

int main() {
  if (!cucore::driver_available()) return std::cout << "no driver\n", 0;
  const cucore::Device device(0);
  const cucore::Stream stream = device.create_stream();
  const cucore::Buffer buffer = device.allocate(1 << 20, stream);
  buffer.fill(1.0f, stream);
  stream.sync();
  std::cout << device.name() << " filled " << buffer.size() << " bytes\n";
}
