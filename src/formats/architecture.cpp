// Architectures in names and in PTX: see architecture.hpp.
#include "src/formats/architecture.hpp"

#include <charconv>

#include "src/formats/ptx_syntax.hpp"

namespace cucore::detail {

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

bool can_use(CodeType type, std::string_view arch, int capability) noexcept {
  const Architecture wanted = parse_architecture(arch);
  const bool same_major = wanted.number / 10 == capability / 10;
  if (wanted.suffix == 'a') return wanted.number == capability;
  if (wanted.number > capability) return false;
  return same_major || (type != CodeType(CodeType::cubin) && wanted.suffix == '\0');
}

}  // namespace cucore::detail
