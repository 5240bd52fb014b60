// The sections of a 64-bit little-endian ELF image, a cubin or a host object, read without trusting any offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cpu/image/byte_reader.hpp"

namespace cucore::cpu::image {

class ElfSections {
 public:
  struct Section {
    std::string_view name;  ///< empty before read_names()
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t name_offset = 0;
  };

  static constexpr std::uint64_t header_size = 64;  ///< of the file, and of a section
  // Where the file's header describes the table.
  static constexpr std::uint64_t table_field = 40;
  static constexpr std::uint64_t entry_size_field = 58;
  static constexpr std::uint64_t count_field = 60;
  static constexpr std::uint64_t names_field = 62;

  /// None if there is no whole section table. The file's header must be inside `image`.
  static std::optional<ElfSections> read(std::string_view image);

  /// Whether the names of sections fit; until then they are not looked at.
  bool read_names();

  /// Section 0 is none.
  std::uint64_t count() const { return count_; }
  std::optional<Section> section(std::uint64_t index) const;
  /// None if it has no bytes in the file, or they do not fit.
  std::optional<std::string_view> content(const Section& section) const;

  std::uint64_t table_end() const { return table_ + count_ * entry_size_; }

 private:
  explicit ElfSections(std::string_view image) : reader_(image) {}

  ByteReader reader_;
  std::uint64_t table_ = 0;
  std::uint64_t entry_size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t names_index_ = 0;
  std::string_view names_;
};

}  // namespace cucore::cpu::image
