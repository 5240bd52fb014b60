// Finding fat binaries in host objects (ELF) and those in static libraries (ar).
#include "src/formats/device_units.hpp"
#include "src/formats/architecture.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"

namespace cucore::detail {
namespace {

constexpr std::string_view relocatable = "__nv_relfatbin";
constexpr std::string_view whole_programs = ".nv_fatbin";
constexpr std::string_view archive = "!<arch>\n";
constexpr std::size_t member_header = 60;

// Fat binaries one after another, each at a multiple of 8.
void add_fatbins(DeviceUnits& out, std::string_view section, const std::string& member) {
  while (!section.empty()) {
    if (!is_fatbin(section)) {  // what an alignment left free
      section.remove_prefix(std::min<std::size_t>(8, section.size()));
      continue;
    }
    auto images = read_fatbin(section, true);
    if (!images) {
      out.fault = "a fat binary in it is damaged";
      return;
    }
    out.units.push_back({.member = member, .images = std::move(*images)});
    std::uint16_t header;
    std::uint64_t size;
    std::memcpy(&header, section.data() + 6, sizeof header);
    std::memcpy(&size, section.data() + 8, sizeof size);
    section.remove_prefix(header + static_cast<std::size_t>(size));  // read_fatbin() found both inside
  }
}

void add_object(DeviceUnits& out, std::string_view bytes, const std::string& member) {
  if (const char* fault = elf_fault(bytes)) {
    out.fault = fault;
    return;
  }
  Elf64_Half machine;
  std::memcpy(&machine, bytes.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  if (machine == machine_cuda) {
    out.units.push_back({.member = member, .images = {{.arch = architecture_of_cubin(bytes), .bytes = bytes}}});
    return;
  }
  if (const auto section = elf_section(bytes, relocatable)) add_fatbins(out, *section, member);
  if (const auto section = elf_section(bytes, whole_programs); section && !section->empty()) {
    out.has_whole_programs = true;
  }
}

// A member's name: in its header, up to '/' or blanks, or "/123" into the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
  std::size_t at = 0;
  if (field.starts_with('/') && std::from_chars(field.data() + 1, field.data() + field.size(), at).ec == std::errc() &&
      at < long_names.size()) {
    field = long_names.substr(at);
  }
  return std::string(field.substr(0, field.find_first_of("/\n")));
}

void add_library(DeviceUnits& out, std::string_view bytes) {
  if (!bytes.starts_with(archive)) {
    out.fault = "it does not begin with the signature of a static library";
    return;
  }
  std::string_view long_names;
  bytes.remove_prefix(archive.size());
  while (!bytes.empty() && out.fault.empty()) {
    std::size_t size = 0;
    const bool has_header = bytes.size() >= member_header;
    if (!has_header || std::from_chars(bytes.data() + 48, bytes.data() + 58, size).ec != std::errc() ||
        size > bytes.size() - member_header) {
      out.fault = "the library is cut off";
      return;
    }
    const std::string_view field = bytes.substr(0, 16);
    const std::string_view content = bytes.substr(member_header, size);
    if (field.starts_with("// ")) {
      long_names = content;
    } else if (!field.starts_with("/ ") && !field.starts_with("/SYM64/ ") && content.starts_with(ELFMAG)) {
      const std::string name = member_name(field, long_names);
      add_object(out, content, name);
      if (!out.fault.empty()) out.fault = "member " + name + ": " + out.fault;
    }
    bytes.remove_prefix(std::min(bytes.size(), member_header + size + size % 2));
  }
}

}  // namespace

const FatbinImage* DeviceUnit::best(int capability) const {
  const std::vector<std::size_t> usable = usable_images(images, capability);
  return usable.empty() ? nullptr : &images[usable.front()];
}

const FatbinImage* DeviceUnit::best(int capability, CodeType type) const {
  for (const std::size_t i : usable_images(images, capability)) {
    if (images[i].type == type) return &images[i];
  }
  return nullptr;
}

DeviceUnits device_units(CodeType type, std::string_view bytes) {
  DeviceUnits result;
  if (type == CodeType(CodeType::fatbin)) {
    if (auto images = read_fatbin(bytes, true)) {
      result.units.push_back({.images = std::move(*images)});
    } else {
      result.fault = "it is not a complete fat binary";
    }
  } else if (type == CodeType(CodeType::object)) {
    add_object(result, bytes, {});
  } else if (type == CodeType(CodeType::library)) {
    add_library(result, bytes);
  }
  return result;
}

}  // namespace cucore::detail
