// A place in a kernel's text, in words for users: see ptx_place.hpp.
#include "cpu/loader/ptx_place.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace cucore::cpu::loader {

namespace {

const ptx::Instruction* find_instruction(const ptx::Module& module, std::uint32_t line) {
  for (const ptx::Function& function : module.functions) {
    const auto found =
        std::lower_bound(function.body.begin(), function.body.end(), line,
                         [](const ptx::Instruction& i, std::uint32_t wanted) { return i.position.line < wanted; });
    if (found != function.body.end() && found->position.line == line) return &*found;
  }
  return nullptr;
}

}  // namespace

std::string place_in_words(const ptx::Module& module, std::uint32_t line) {
  std::string text = "PTX line " + std::to_string(line);
  const ptx::Instruction* const instruction = find_instruction(module, line);
  if (!instruction) return text;
  text += ": " + std::string(instruction->spelt);
  const ptx::SourceLine& source = instruction->source;
  if (source.file == 0 || source.file >= module.files.size()) return text;
  return module.files[source.file] + ":" + std::to_string(source.line) + " (" + text + ")";
}

std::string source_text(const ptx::Module& module, std::uint32_t line) {
  const ptx::Instruction* const instruction = find_instruction(module, line);
  if (!instruction) return {};
  const ptx::SourceLine& source = instruction->source;
  if (source.file == 0 || source.file >= module.files.size()) return {};
  const std::string& name = module.files[source.file];
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return {};
  std::ifstream file(name);
  std::string text;
  for (std::uint32_t i = 0; i < source.line; ++i) {
    if (!std::getline(file, text)) return {};
  }
  const std::size_t begin = text.find_first_not_of(" \t");
  constexpr std::size_t most = 200;  // of a line, which no person writes longer
  return begin == std::string::npos ? std::string() : text.substr(begin, most);
}

}  // namespace cucore::cpu::loader
