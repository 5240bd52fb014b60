// Pictures for the C++ example: reads a binary PPM, writes an uncompressed PNG. Small on purpose, no library needed.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pictures {

struct Rgb {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> bytes;  ///< width * height * 3, row-major
};

inline Rgb read_ppm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  Rgb picture;
  int maximum = 0;
  if (!(file >> magic >> picture.width >> picture.height >> maximum) || magic != "P6" || maximum != 255 ||
      picture.width <= 0 || picture.height <= 0) {
    throw std::runtime_error(path + ": not a binary 8-bit PPM (run the Python example first, it writes one)");
  }
  file.get();
  picture.bytes.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  if (!file.read(reinterpret_cast<char*>(picture.bytes.data()), static_cast<std::streamsize>(picture.bytes.size()))) {
    throw std::runtime_error(path + ": truncated");
  }
  return picture;
}

class PngWriter {
 public:
  static void write(const std::string& path, const Rgb& picture) {
    std::ofstream file(path, std::ios::binary);
    file.write("\x89PNG\r\n\x1a\n", 8);
    std::string header;
    append_u32(header, static_cast<std::uint32_t>(picture.width));
    append_u32(header, static_cast<std::uint32_t>(picture.height));
    header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, no interlace
    chunk(file, "IHDR", header);
    chunk(file, "IDAT", zlib_stored(scanlines(picture)));
    chunk(file, "IEND", "");
    if (!file) throw std::runtime_error(path + ": cannot write");
  }

 private:
  static void append_u32(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  }

  static std::string scanlines(const Rgb& picture) {
    std::string out;
    const auto row = static_cast<std::size_t>(picture.width) * 3;
    for (int y = 0; y < picture.height; ++y) {
      out += '\0';  // filter: none
      out.append(reinterpret_cast<const char*>(picture.bytes.data()) + static_cast<std::size_t>(y) * row, row);
    }
    return out;
  }

  static std::string zlib_stored(const std::string& data) {
    std::string out("\x78\x01", 2);
    for (std::size_t at = 0; at < data.size(); at += 65535) {
      const std::size_t size = std::min<std::size_t>(65535, data.size() - at);
      out += at + size == data.size() ? '\x01' : '\x00';
      for (const std::size_t word : {size, ~size}) {
        out += static_cast<char>(word & 0xff);
        out += static_cast<char>(word >> 8 & 0xff);
      }
      out.append(data, at, size);
    }
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : data) {
      a = (a + static_cast<std::uint8_t>(c)) % 65521;
      b = (b + a) % 65521;
    }
    append_u32(out, b << 16 | a);
    return out;
  }

  static void chunk(std::ofstream& file, const std::string& kind, const std::string& data) {
    const std::string body = kind + data;
    std::uint32_t crc = 0xffffffffu;
    for (const char c : body) {
      crc ^= static_cast<std::uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    std::string out;
    append_u32(out, static_cast<std::uint32_t>(data.size()));
    out += body;
    append_u32(out, ~crc);
    file.write(out.data(), static_cast<std::streamsize>(out.size()));
  }
};

}  // namespace pictures
