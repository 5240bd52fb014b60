// A PTX module as a linker sees it: what it declares at module scope, what its code refers to, and its text changed.
// Works on tokens, for modules that parse.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::cpu::linker {

class PtxSymbols {
 public:
  enum class Linkage { Internal, Visible, Weak, Extern };

  struct Declaration {
    std::string_view name;
    Linkage linkage = Linkage::Internal;
    bool is_entry = false;
    bool is_function = false;  ///< an entry too; else a variable
    bool defines = false;
    // Offsets in the text: of the statement, of the word of its linkage, of what makes it a definition.
    std::size_t begin = 0, end = 0;
    std::size_t linkage_begin = 0, linkage_end = 0;
    std::size_t definition_begin = 0;
  };

  /// `text` must outlive this object.
  explicit PtxSymbols(std::string_view text);

  const std::vector<Declaration>& declarations() const { return declarations_; }
  /// Names that bodies and initialisers use: also labels, registers and the like.
  const std::set<std::string_view>& references() const { return references_; }

  /// What code here refers to, declares as external and does not define, but for what the device supplies.
  std::vector<const Declaration*> unresolved() const;

  /// The text with every name in `renamed` replaced, and the definitions in `dropped` made declarations (of a kernel:
  /// taken out), and the functions in `exposed` made visible to others.
  std::string changed(const std::map<std::string_view, std::string>& renamed, const std::set<std::string_view>& dropped,
                      const std::set<std::string_view>& exposed = {}) const;

 private:
  struct Name {
    std::string_view text;
    std::size_t offset = 0;
  };

  std::string_view text_;
  std::vector<Declaration> declarations_;
  std::set<std::string_view> references_;
  std::vector<Name> names_;
};

/// A function that a module needs no definition of: the device, or what stands for libcudadevrt.a, supplies it.
bool is_supplied(std::string_view name);

}  // namespace cucore::cpu::linker
