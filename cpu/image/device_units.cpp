// Finds fat binaries in host objects (ELF), and those in static libraries (ar): see device_units.hpp.
#include "cpu/image/device_units.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cpu/image/cubin.hpp"
#include "cpu/image/elf_sections.hpp"
#include "cpu/image/fat_binary.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::string_view archive_magic = "!<arch>\n";
constexpr std::string_view relocatable_section = "__nv_relfatbin";

Failure invalid_input(std::string what) { return Failure(ErrorCode::InvalidImage, std::move(what)); }

/// `contents`: the PTX that was found; having none is not an error.
Result<void> take_ptx(DeviceUnit& unit, Result<ImageContents> contents) {
  if (!contents) {
    if (contents.failure().code() == ErrorCode::NoBinaryForGpu) return {};
    return std::move(contents).failure();
  }
  unit.is_for_this_device = contents->is_for_this_device;
  unit.ptx.push_back(std::move(contents->ptx));
  for (std::string& module : contents->further_ptx) unit.ptx.push_back(std::move(module));
  return {};
}

class UnitReader {
 public:
  explicit UnitReader(std::uint32_t architecture) : architecture_(architecture) {}

  Result<void> read(std::string_view bytes) {
    if (is_library(bytes)) return read_library(bytes.substr(archive_magic.size()));
    if (is_fat_binary(bytes)) return read_unit(bytes);
    if (is_elf(bytes)) return read_elf(bytes);
    return invalid_input("it is not a cubin, fat binary, host object or library");
  }

  std::vector<DeviceUnit> take() { return std::move(units_); }

 private:
  Result<void> read_unit(std::string_view fat_binary) {
    DeviceUnit unit{.member = member_};
    if (Result<void> read = take_ptx(unit, read_fat_binary(fat_binary, architecture_)); !read) return read;
    unit.lto_ir = lto_ir_of(fat_binary, architecture_);
    unit.machine_code = machine_code_of(fat_binary, architecture_);
    units_.push_back(std::move(unit));
    return {};
  }

  Result<void> read_elf(std::string_view bytes) {
    if (bytes.size() < ElfSections::header_size)
      return invalid_input("the ELF image is truncated: its header does not fit");
    if (is_cubin(bytes)) {
      DeviceUnit unit{.member = member_, .machine_code = std::string(bytes)};
      if (Result<void> read = take_ptx(unit, read_cubin(bytes, architecture_)); !read) return read;
      units_.push_back(std::move(unit));
      return {};
    }
    auto sections = ElfSections::read(bytes);
    if (!sections || !sections->read_names())
      return invalid_input("the object is truncated or damaged: its section table does not fit");
    for (std::uint64_t index = 1; index < sections->count(); ++index) {
      const auto section = sections->section(index);
      if (!section || section->name != relocatable_section) continue;
      const auto content = sections->content(*section);
      if (!content) return invalid_input("the object is truncated or damaged: its device code does not fit");
      if (Result<void> read = read_fat_binaries(*content); !read) return read;
    }
    return {};
  }

  /// One after another, each at a multiple of 8.
  Result<void> read_fat_binaries(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t step = 8;  // what an alignment left free
      if (is_fat_binary(bytes)) {
        if (Result<void> read = read_unit(bytes); !read) return read;
        step = (fat_binary_extent(bytes.data()) + 7) / 8 * 8;  // which fits, or it would not have been read
      }
      bytes.remove_prefix(std::min(bytes.size(), step));
    }
    return {};
  }

  Result<void> read_library(std::string_view bytes) {
    constexpr std::size_t header_size = 60;
    std::string_view long_names;
    while (!bytes.empty()) {
      std::size_t size = 0;
      const bool has_header = bytes.size() >= header_size;
      if (!has_header || std::from_chars(bytes.data() + 48, bytes.data() + 58, size).ec != std::errc() ||
          size > bytes.size() - header_size) {
        return invalid_input("the library is cut off");
      }
      const std::string_view name = bytes.substr(0, 16);
      const std::string_view content = bytes.substr(header_size, size);
      if (name.starts_with("// ")) {
        long_names = content;
      } else if (!name.starts_with("/ ") && !name.starts_with("/SYM64/ ") && is_elf(content)) {
        member_ = member_name(name, long_names);
        if (Result<void> read = read_elf(content); !read)
          return invalid_input("member " + member_ + ": " + read.failure().sentence());
      }
      bytes.remove_prefix(std::min(bytes.size(), header_size + size + size % 2));
    }
    return {};
  }

  /// In its header, up to '/' or blanks, or "/123" into the table of long names.
  static std::string member_name(std::string_view field, std::string_view long_names) {
    std::size_t at = 0;
    if (field.starts_with('/') &&
        std::from_chars(field.data() + 1, field.data() + field.size(), at).ec == std::errc() && at < long_names.size())
      field = long_names.substr(at);
    field = field.substr(0, field.find_first_of("/\n"));
    return std::string(field.substr(0, field.find_last_not_of(' ') + 1));
  }

  std::uint32_t architecture_;
  std::string member_;
  std::vector<DeviceUnit> units_;
};

}  // namespace

bool is_library(std::string_view bytes) { return bytes.starts_with(archive_magic); }

Result<std::vector<DeviceUnit>> read_device_units(std::string_view bytes, std::uint32_t architecture) {
  UnitReader reader(architecture);
  if (Result<void> read = reader.read(bytes); !read) return std::move(read).failure();
  return reader.take();
}

}  // namespace cucore::cpu::image
