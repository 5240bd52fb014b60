// Decompressing images of fat binaries. liblz4 and libzstd are opened when an image first needs one, so that neither
// building nor using cucore depends on them otherwise. What they are given is not trusted.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "src/formats/fatbin.hpp"

namespace cucore::detail {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

// A function of a library that stays open until the process ends; nullptr if there is none.
template <class Function>
Function* function_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle, name));
}

ImageBytes fault(std::string text) { return {.fault = std::move(text)}; }

ImageBytes from_lz4(std::string_view bytes, std::size_t size) {
  using Decompress = int(const char*, char*, int, int);
  static Decompress* const decompress = function_of<Decompress>("liblz4.so.1", "LZ4_decompress_safe");
  if (decompress == nullptr) return fault("it is compressed with LZ4, and liblz4.so.1 is not on this machine");
  constexpr std::size_t best_ratio = 255;  // of a byte of an LZ4 block
  if (size / best_ratio > bytes.size() || bytes.size() > std::numeric_limits<int>::max()) {
    return fault("its decompressed size is implausible");
  }
  ImageBytes result{.bytes = std::string(size, '\0')};
  const int given =
      decompress(bytes.data(), result.bytes.data(), static_cast<int>(bytes.size()), static_cast<int>(size));
  if (given < 0 || static_cast<std::size_t>(given) != size) return fault("its LZ4 data is damaged");
  return result;
}

ImageBytes from_zstd(std::string_view bytes, std::size_t size) {
  using Decompress = std::size_t(void*, std::size_t, const void*, std::size_t);
  static Decompress* const decompress = function_of<Decompress>("libzstd.so.1", "ZSTD_decompress");
  if (decompress == nullptr) return fault("it is compressed with Zstandard, and libzstd.so.1 is not on this machine");
  ImageBytes result{.bytes = std::string(size, '\0')};
  // An error's number is larger than any size.
  if (decompress(result.bytes.data(), size, bytes.data(), bytes.size()) != size) {
    return fault("its Zstandard data is damaged");
  }
  return result;
}

}  // namespace

ImageBytes decompressed(const FatbinImage& image) {
  if (!image.is_compressed) return {.bytes = std::string(image.bytes)};
  if (image.full_size > most_bytes) return fault("it would decompress to more than 256 MiB");
  const auto size = static_cast<std::size_t>(image.full_size);
  ImageBytes result = image.is_zstd ? from_zstd(image.bytes, size) : from_lz4(image.bytes, size);
  if (image.type == CodeType(CodeType::ptx)) {
    result.bytes.resize(std::min(result.bytes.size(), result.bytes.find('\0')));
  }
  return result;
}

}  // namespace cucore::detail
