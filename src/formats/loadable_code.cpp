// Reading code of any format that drivers load: see loadable_code.hpp.
#include "src/formats/loadable_code.hpp"

#include <algorithm>
#include <utility>

#include "src/formats/architecture.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"

namespace cucore::detail {

// The driver trusts the offsets in an image, so an image is checked against its own size before the driver sees it.
const char* fault_of_code(std::string_view bytes) noexcept {
  if (bytes.empty()) return "it is empty";
  if (is_elf(bytes)) return elf_fault(bytes);
  if (is_fatbin(bytes)) return fatbin_fault(bytes);
  if (bytes.find('\0') == std::string_view::npos) return nullptr;
  return "it is neither a cubin nor a fat binary, and as PTX it has a NUL character inside";
}

std::string_view without_end(CodeType type, std::string_view bytes) noexcept {
  if (type != CodeType(CodeType::ptx) || is_elf(bytes) || is_fatbin(bytes)) return bytes;
  while (bytes.ends_with('\0')) bytes.remove_suffix(1);
  return bytes;
}

LoadableCode read_loadable_code(CodeType type, std::string_view bytes) {
  LoadableCode code{.fault = fault_of_code(bytes), .type = type};
  const auto add_ptx = [&](std::string_view ptx) {
    code.images.push_back({.type = CodeType::ptx, .arch = architecture_of_ptx(ptx), .bytes = ptx});
  };
  // What is called PTX may have been compiled since: drivers look at the bytes, not at the name.
  if (type == CodeType(CodeType::ptx) && !is_elf(bytes) && !is_fatbin(bytes)) {
    add_ptx(bytes);
  } else if (is_fatbin(bytes)) {
    code.type = CodeType::fatbin;
    auto images = read_fatbin(bytes);
    code.driver_chooses =
        !images || std::any_of(images->begin(), images->end(), [](const FatbinImage& i) { return i.is_compressed; });
    if (images) code.images = std::move(*images);
  } else {
    code.type = CodeType::cubin;
    Cubin cubin = read_cubin(bytes);
    code.images.push_back({.type = CodeType::cubin, .arch = std::move(cubin.arch), .bytes = bytes});
    for (const std::string_view ptx : cubin.modules) add_ptx(ptx);
  }
  return code;
}

}  // namespace cucore::detail
