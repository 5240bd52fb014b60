// Images for tests: cubins of given sections, fat binaries of given entries, and the files of images/.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cucore::cpu::image {

inline std::string read_file(const std::string& name) {
  std::ifstream file(CUCORE_TEST_DATA "/images/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void put(std::string& bytes, std::size_t offset, std::uint64_t value, std::size_t width) {
  if (bytes.size() < offset + width) bytes.resize(offset + width);
  for (std::size_t i = 0; i < width; ++i) bytes[offset + i] = static_cast<char>(value >> (8 * i));
}

struct SectionOf {
  std::string name;
  std::string content;
};

/// A cubin with nothing but these sections.
inline std::string make_cubin(const std::vector<SectionOf>& sections) {
  std::string image("\x7f\x45\x4c\x46\x02\x01\x01", 7);
  image.resize(64);
  put(image, 18, 190, 2);
  std::string names(1, '\0');
  std::vector<std::array<std::uint64_t, 3>> headers;
  for (const SectionOf& section : sections) {
    headers.push_back({names.size(), image.size(), section.content.size()});
    names += section.name + '\0';
    image += section.content;
  }
  headers.push_back({0, image.size(), names.size()});
  image += names;
  const std::size_t table = image.size();
  image.resize(table + 64 * (headers.size() + 1));
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::size_t at = table + 64 * (i + 1);
    put(image, at, headers[i][0], 4);
    put(image, at + 4, 1, 4);
    put(image, at + 24, headers[i][1], 8);
    put(image, at + 32, headers[i][2], 8);
  }
  put(image, 40, table, 8);
  put(image, 58, 64, 2);
  put(image, 60, headers.size() + 1, 2);
  put(image, 62, headers.size(), 2);
  return image;
}

struct EntryOf {
  std::uint16_t kind;
  std::uint32_t architecture;
  std::string payload;
  std::uint64_t flags = 0;
  std::uint64_t decompressed = 0;
};

inline std::string make_fat_binary(const std::vector<EntryOf>& entries) {
  std::string body;
  for (const EntryOf& entry : entries) {
    const std::size_t at = body.size();
    put(body, at, entry.kind, 2);
    put(body, at + 4, 64, 4);
    put(body, at + 8, entry.payload.size(), 8);
    put(body, at + 16, entry.flags == 0 ? 0 : entry.payload.size(), 4);
    put(body, at + 28, entry.architecture, 4);
    put(body, at + 40, entry.flags, 8);
    put(body, at + 56, entry.decompressed, 8);
    body += entry.payload;
  }
  std::string image;
  put(image, 0, 0xba55ed50, 4);
  put(image, 4, 1, 2);
  put(image, 6, 16, 2);
  put(image, 8, body.size(), 8);
  return image + body;
}

}  // namespace cucore::cpu::image
