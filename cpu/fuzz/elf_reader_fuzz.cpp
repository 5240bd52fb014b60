// Any bytes go through the image readers: cubins, fat binaries, and both decompressors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cpu/image/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cucore::cpu::image;
  const auto contents = read_image({reinterpret_cast<const char*>(data), size}, 80);
  if (!contents && contents.failure().sentence().empty()) std::abort();
  return 0;
}
