// What a cubin says of itself: see cubin.hpp.
#include "src/formats/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <utility>

#include "src/formats/architecture.hpp"
#include "src/formats/elf.hpp"

namespace cucore::detail {
namespace {

// The version of a cubin's ABI from which the architecture is in bits 8 to 15 of the header's flags
// instead of 0 to 7.
constexpr unsigned char abi_of_shifted_architecture = 8;

// The number in the header, without a suffix.
std::string numbered_architecture(std::string_view image) {
  if (image.size() < sizeof(Elf64_Ehdr) || !image.starts_with(ELFMAG)) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.e_machine != machine_cuda) return {};
  const bool shifted = header.e_ident[EI_ABIVERSION] >= abi_of_shifted_architecture;
  return "sm_" + std::to_string((shifted ? header.e_flags >> 8 : header.e_flags) & 0xff);
}

std::string with_suffix_of(std::string arch, std::string_view ptx) {
  const char suffix = parse_architecture(architecture_of_ptx(ptx)).suffix;
  if (!arch.empty() && suffix != '\0') arch += suffix;
  return arch;
}

}  // namespace

Cubin read_cubin(std::string_view image) {
  Cubin cubin{.arch = numbered_architecture(image), .modules = embedded_ptx_modules(image)};
  if (!cubin.modules.empty()) cubin.arch = with_suffix_of(std::move(cubin.arch), cubin.modules.front());
  return cubin;
}

std::string architecture_of_cubin(std::string_view image) { return read_cubin(image).arch; }

bool is_linked_cubin(std::string_view image) noexcept {
  if (image.size() < sizeof(Elf64_Ehdr) || !image.starts_with(ELFMAG)) return false;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  return header.e_machine == machine_cuda && header.e_type == ET_EXEC;
}

std::vector<std::string_view> embedded_ptx_modules(std::string_view image) {
  std::vector<std::string_view> modules;
  std::string_view rest = elf_section(image, ptx_section).value_or(std::string_view());
  for (std::size_t end = rest.find('\0'); end != std::string_view::npos; end = rest.find('\0')) {
    if (end != 0) modules.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return modules;
}

std::string with_ptx_modules(std::string_view image, const std::vector<std::string_view>& modules) {
  std::string content;
  for (const std::string_view module : modules) (content += module) += '\0';
  return elf_add_section(image, ptx_section, content);
}

std::string joined_ptx(const std::vector<std::string_view>& modules) {
  std::string text;
  for (const std::string_view module : modules) (text += module) += modules.size() == 1 ? "" : "\n";
  return text;
}

std::optional<std::string_view> embedded_ptx(std::string_view image) noexcept {
  const std::optional<std::string_view> content = elf_section(image, ptx_section);
  if (!content || content->empty()) return std::nullopt;
  const std::size_t end = content->find('\0');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return content->substr(0, end);
}

}  // namespace cucore::detail
