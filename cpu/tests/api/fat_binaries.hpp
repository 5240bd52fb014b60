// Fat binaries that tests put together.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "cpu/image/cubin.hpp"

/// A fat binary as CuPy's wheels have them: nothing for this device but machine code, PTX for a newer one.
inline std::string newer_fat_binary(const std::string& ptx, std::uint32_t architecture) {
  const auto entry = [](std::uint16_t kind, std::uint32_t target, const std::string& payload) {
    std::string header(64, '\0');
    const std::uint32_t header_bytes = 64;
    const std::uint64_t size = payload.size();
    std::memcpy(header.data(), &kind, sizeof kind);
    std::memcpy(header.data() + 4, &header_bytes, sizeof header_bytes);
    std::memcpy(header.data() + 8, &size, sizeof size);
    std::memcpy(header.data() + 28, &target, sizeof target);
    return header + payload;
  };
  std::string body = entry(2, 90, cucore::cpu::image::write_cubin("", 90));
  if (architecture != 0) body += entry(1, architecture, ptx + '\0');
  std::string image(16, '\0');
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version = 1, header_bytes = 16;
  const std::uint64_t size = body.size();
  std::memcpy(image.data(), &magic, sizeof magic);
  std::memcpy(image.data() + 4, &version, sizeof version);
  std::memcpy(image.data() + 6, &header_bytes, sizeof header_bytes);
  std::memcpy(image.data() + 8, &size, sizeof size);
  return image + body;
}
