// Bytes from anywhere given to what reads them: serialised object code, the same behind a correct frame, ELF images and
// fat binaries, the symbols that the linker reads, and the scanner of include directives.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cucore/error.hpp"
#include "cucore/object_code.hpp"
#include "src/code/object_code_payload.hpp"
#include "src/files/include_scan.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/checksum.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/device_units.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/fatbin.hpp"
#include "src/formats/frame.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read_serialised(std::string_view bytes) {
  try {
    const cucore::ObjectCode code = cucore::ObjectCode::deserialize(bytes);
    require(code.serialize() == bytes);  // there is one way to write a value, but for PTX with a NUL at its end
  } catch (const cucore::ValueError&) {
  }
}

// Puts a correct frame around `payload`, so that mutations reach what is behind the checksum.
std::string framed(std::string_view payload) {
  std::string bytes = cucore::detail::FrameWriter(cucore::detail::FrameKind::object_code).finish();
  bytes.resize(24);
  for (std::size_t i = 0; i < 8; ++i) bytes[16 + i] = static_cast<char>(payload.size() >> (8 * i));
  bytes += payload;
  const std::uint64_t sum = cucore::detail::checksum(bytes);
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(sum >> (8 * i));
  return bytes;
}

void read_payload(std::string_view payload) {
  try {
    const cucore::ObjectCode code = cucore::ObjectCode::deserialize(framed(payload));
    const cucore::ObjectCode again = cucore::ObjectCode::deserialize(code.serialize());
    require(again.code() == code.code() && again.symbol_mapping() == code.symbol_mapping() &&
            again.name() == code.name());
    (void)code.ptx();
    (void)code.kernel_names();
  } catch (const cucore::ValueError&) {
  }
}

void read_image(std::string_view image) {
  using namespace cucore::detail;
  (void)embedded_ptx(image);
  (void)elf_fault(image);
  if (is_fatbin(image)) (void)fatbin_fault(image);
  (void)elf_strip_section(image, ptx_section);
  try {
    const std::string more = elf_add_section(image, ptx_section, std::string_view("ptx", 4));
    require(embedded_ptx(more) == "ptx");
    require(!elf_section(elf_strip_section(more, ptx_section), ptx_section));
  } catch (const cucore::ValueError&) {
  }
}

// What the linker reads of its inputs, host objects and libraries too, and the modules of PTX that it leaves in its
// results.
void read_link_input(std::string_view image) {
  using namespace cucore::detail;
  for (const CodeSymbol& symbol : ptx_symbols(image)) require(!symbol.name.empty());
  for (const CodeSymbol& symbol : cubin_symbols(image)) require(!symbol.name.empty());
  (void)undefined_in({image, image});
  (void)architecture_of_ptx(image);
  (void)architecture_of_cubin(image);
  if (const auto images = read_fatbin(image)) {
    for (const FatbinImage& each : *images) require(each.bytes.size() <= image.size());
    for (const std::size_t index : usable_images(*images, 90)) require(index < images->size());
  }
  for (const cucore::CodeType type : {cucore::CodeType::fatbin, cucore::CodeType::object, cucore::CodeType::library}) {
    for (const DeviceUnit& unit : device_units(type, image).units) {
      for (const FatbinImage& each : unit.images) {
        require(each.bytes.size() <= image.size());
        if (each.full_size < 1 << 20) (void)decompressed(each);
      }
    }
  }
  (void)embedded_ptx_modules(image);
  if (elf_fault(image) == nullptr && embedded_ptx_modules(image).empty()) {
    try {
      const std::string two = with_ptx_modules(image, {".entry a", ".entry b"});
      require(embedded_ptx_modules(two) == std::vector<std::string_view>{".entry a", ".entry b"});
    } catch (const cucore::ValueError&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_serialised(bytes);
  read_payload(bytes);
  read_image(bytes);
  read_link_input(bytes);
  (void)cucore::detail::scan_includes(bytes);
  return 0;
}
