// What the inputs of a link define, and whether the result still has it. Linkers say nothing when a symbol is defined
// twice in machine code (nvJitLink 13.0 keeps the first definition).
#include <map>
#include <set>
#include <utility>

#include "cucore/error.hpp"
#include "src/compile/linker_inputs.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/device_units.hpp"
#include "src/formats/elf.hpp"

namespace cucore::detail {
namespace {

// Code that is linked, where it comes from, and its symbols.
struct Piece {
  std::string place;
  std::vector<CodeSymbol> symbols;
};

std::vector<CodeSymbol> symbols_of(CodeType type, std::string_view bytes) {
  if (type == CodeType(CodeType::ptx)) return ptx_symbols(bytes);
  if (type == CodeType(CodeType::cubin)) return cubin_symbols(bytes);
  return {};
}

std::vector<CodeSymbol> symbols_of(const FatbinImage& image) {
  if (!image.is_compressed) return symbols_of(image.type, image.bytes);
  return symbols_of(image.type, decompressed(image).bytes);
}

// The symbols that every image defines and that nothing else may define again.
std::vector<CodeSymbol> common_definitions(const DeviceUnit& unit) {
  std::vector<CodeSymbol> common;
  bool is_first = true;
  for (const FatbinImage& image : unit.images) {
    if (image.type == CodeType(CodeType::ltoir)) continue;
    std::set<std::string> its;
    std::vector<CodeSymbol> symbols = symbols_of(image);
    for (const CodeSymbol& symbol : symbols) {
      if (symbol.kind == CodeSymbol::strong) its.insert(symbol.name);
    }
    if (is_first) common = std::move(symbols);
    std::erase_if(common, [&](const CodeSymbol& symbol) { return !its.contains(symbol.name); });
    is_first = false;
  }
  return common;
}

std::vector<Piece> pieces_of(const LinkInput& input, std::string_view arch) {
  std::vector<Piece> pieces;
  if (input.type == CodeType(CodeType::ptx) || input.type == CodeType(CodeType::cubin)) {
    pieces.push_back({quoted(input), symbols_of(input.type, input.bytes)});
    return pieces;
  }
  const int capability = parse_architecture(arch).number;
  for (const DeviceUnit& unit : device_units(input.type, input.bytes).units) {
    Piece piece{(unit.member.empty() ? "" : "member '" + unit.member + "' of ") + quoted(input), {}};
    if (capability == 0) {
      piece.symbols = common_definitions(unit);
    } else if (const FatbinImage* image = unit.best(capability)) {
      piece.symbols = symbols_of(*image);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

void refuse_double_definitions(const LinkInputs& inputs, std::string_view arch) {
  std::map<std::string, std::string> definitions;  // and where they are
  for (const LinkInput& input : inputs.inputs) {
    for (const Piece& piece : pieces_of(input, arch)) {
      for (const CodeSymbol& symbol : piece.symbols) {
        if (symbol.kind != CodeSymbol::strong) continue;
        const auto [known, fresh] = definitions.emplace(symbol.name, piece.place);
        if (fresh) continue;
        throw ValueError(
            {.call = "Linker",
             .message = "symbol '" + symbol.name + "' is defined by " + known->second + " and by " + piece.place,
             .hint = "define it in one of them and declare it extern in the other, or make it static or inline"});
      }
    }
  }
}

void refuse_definitions_of_ir(const LinkInputs& inputs, std::string_view arch, std::string_view ptx) {
  std::set<std::string> defined;
  for (const CodeSymbol& symbol : ptx_symbols(ptx)) {
    if (symbol.kind == CodeSymbol::strong) defined.insert(symbol.name);
  }
  for (const LinkInput& input : inputs.inputs) {
    for (const Piece& piece : pieces_of(input, arch)) {
      for (const CodeSymbol& symbol : piece.symbols) {
        if (symbol.kind != CodeSymbol::strong || !defined.contains(symbol.name)) continue;
        throw ValueError(
            {.call = "Linker",
             .message = "symbol '" + symbol.name + "' is defined by " + piece.place + " and by LTO-IR of the inputs",
             .hint = "define it in one of them and declare it extern in the other, or make it static or inline"});
      }
    }
  }
}

void refuse_lost_kernels(const LinkInputs& inputs, std::string_view arch, std::string_view cubin,
                         const std::string& description) {
  std::set<std::string> present;
  for (CodeSymbol& symbol : cubin_symbols(cubin)) {
    if (symbol.kind != CodeSymbol::undefined) present.insert(std::move(symbol.name));
  }
  if (present.empty() && elf_section(cubin, ".symtab") == std::nullopt) return;
  for (const LinkInput& input : inputs.inputs) {
    for (const Piece& piece : pieces_of(input, arch)) {
      for (const CodeSymbol& symbol : piece.symbols) {
        if (!symbol.is_kernel || symbol.kind == CodeSymbol::undefined || present.contains(symbol.name)) continue;
        const bool is_linked = input.type == CodeType(CodeType::cubin) && is_linked_cubin(input.bytes);
        throw NvJitLinkError(
            {.call = "nvJitLinkComplete",
             .message = description + ": the linker reported success, but kernel '" + symbol.name + "' of " +
                        piece.place + " is not in the result",
             .hint = is_linked ? "the input is linked already: compile it with the option relocatable_device_code"
                               : "check that the input is for the architecture of the link"});
      }
    }
  }
}

}  // namespace cucore::detail
