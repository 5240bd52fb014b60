// Architectures in names, in the headers of cubins and in PTX: see architecture.hpp.
#include "src/formats/architecture.hpp"

#include <elf.h>

#include <charconv>
#include <cstring>

#include "src/formats/elf.hpp"
#include "src/formats/ptx_syntax.hpp"

namespace cucore::detail {
namespace {

// The version of a cubin's ABI from which the architecture is in bits 8 to 15 of the header's flags
// instead of 0 to 7.
constexpr unsigned char kAbiOfShiftedArchitecture = 8;

}  // namespace

Architecture parse_architecture(std::string_view arch) noexcept {
  Architecture result;
  const std::size_t digits = arch.find_first_of("0123456789");
  if (digits == std::string_view::npos) return result;
  const char* end = arch.data() + arch.size();
  const auto [rest, error] = std::from_chars(arch.data() + digits, end, result.number);
  if (error == std::errc() && rest != end && (*rest == 'a' || *rest == 'f')) result.suffix = *rest;
  return result;
}

std::string architecture_of_ptx(std::string_view ptx) {
  const std::string_view target = ptx_directive(ptx, ".target");
  return target.starts_with("sm_") ? "compute_" + std::string(target.substr(3)) : std::string();
}

std::string architecture_of_cubin(std::string_view image) {
  if (image.size() < sizeof(Elf64_Ehdr) || !image.starts_with(ELFMAG)) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.e_machine != kMachineCuda) return {};
  const bool shifted = header.e_ident[EI_ABIVERSION] >= kAbiOfShiftedArchitecture;
  std::string arch = "sm_" + std::to_string((shifted ? header.e_flags >> 8 : header.e_flags) & 0xff);
  if (const auto ptx = embedded_ptx(image)) {
    const char suffix = parse_architecture(architecture_of_ptx(*ptx)).suffix;
    if (suffix != '\0') arch += suffix;
  }
  return arch;
}

bool can_use(CodeType type, std::string_view arch, int capability) noexcept {
  const Architecture wanted = parse_architecture(arch);
  const bool same_major = wanted.number / 10 == capability / 10;
  if (wanted.suffix == 'a') return wanted.number == capability;
  if (wanted.number > capability) return false;
  return same_major || (type != CodeType(CodeType::cubin) && wanted.suffix == '\0');
}

}  // namespace cucore::detail
