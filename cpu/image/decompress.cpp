// LZ4 and Zstandard blocks of fat binaries: see decompress.hpp.
#include "cpu/image/decompress.hpp"

#include <lz4.h>
#include <zstd.h>

#include <memory>
#include <utility>

namespace cucore::cpu::image {

namespace {

Failure damaged(std::string what) { return Failure(ErrorCode::InvalidImage, std::move(what)); }

std::string too_large(std::uint64_t size) {
  return "it would decompress to " + std::to_string(size) + " bytes, more than the limit of " +
         std::to_string(max_decompressed_size);
}

}  // namespace

Result<std::string> decompress_lz4(std::string_view compressed, std::uint64_t size) {
  if (size > max_decompressed_size) return damaged(too_large(size));
  // A byte of an LZ4 block gives at most 255 bytes, so a larger stated size is false.
  constexpr std::uint64_t best_ratio = 255;
  if (size / best_ratio > compressed.size()) return damaged("its decompressed size is implausible");
  std::string result;
  result.resize(static_cast<std::size_t>(size));
  const int produced = LZ4_decompress_safe(compressed.data(), result.data(), static_cast<int>(compressed.size()),
                                           static_cast<int>(size));
  if (produced < 0 || static_cast<std::uint64_t>(produced) != size) return damaged("its LZ4 data is malformed");
  return result;
}

Result<std::string> decompress_zstd(std::string_view compressed, std::uint64_t size) {
  if (size > max_decompressed_size) return damaged(too_large(size));
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  if (stream == nullptr) return damaged("there is no memory to decompress it");
  ZSTD_inBuffer input = {compressed.data(), compressed.size(), 0};
  std::string result;
  const std::size_t chunk = ZSTD_DStreamOutSize();
  result.reserve(static_cast<std::size_t>(size) + chunk);  // addresses only: memory comes with what is written
  for (std::size_t left = 1; left != 0;) {
    const std::size_t have = result.size();
    if (have > size) return damaged("it decompresses to more than its header says");
    result.resize(have + chunk);
    ZSTD_outBuffer output = {result.data() + have, chunk, 0};
    left = ZSTD_decompressStream(stream.get(), &output, &input);
    result.resize(have + output.pos);
    if (ZSTD_isError(left) != 0)
      return damaged(std::string("its Zstandard data is malformed: ") + ZSTD_getErrorName(left));
    if (left != 0 && output.pos == 0 && input.pos == input.size) return damaged("its Zstandard data is truncated");
  }
  if (result.size() != size) return damaged("it does not decompress to what its header says");
  return result;
}

}  // namespace cucore::cpu::image
