// The line table of object code: the section .debug_line, as DWARF 4 has it. Read when something has failed, so it
// stays in the form that the assembler gave it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cucore::cpu::loader {

class LineTable {
 public:
  /// `section`: with the addresses of the loaded code in it.
  explicit LineTable(std::string section = {}) : section_(std::move(section)) {}

  struct Lines {
    std::uint32_t here = 0;  ///< of the host instruction at an address; 0 if none is known
    std::uint32_t next = 0;  ///< of the code behind it, as far as it runs straight on from there in memory
  };
  /// The bytes are not trusted.
  Lines lines_at(std::uint64_t address) const;

 private:
  std::string section_;
};

}  // namespace cucore::cpu::loader
