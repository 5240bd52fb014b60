// Any bytes go through the image readers: cubins, fat binaries, both decompressors, and what linkers read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cpu/image/cubin_symbols.hpp"
#include "cpu/image/device_units.hpp"
#include "cpu/image/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cucore::cpu::image;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto contents = read_image(bytes, 80);
  if (!contents && contents.failure().sentence().empty()) std::abort();
  const auto units = read_device_units(bytes, 80);
  if (!units && units.failure().sentence().empty()) std::abort();
  for (std::size_t i = 0; units && i < units->size(); ++i) defined_symbols((*units)[i].machine_code);
  return 0;
}
