// The instructions of a launch that numbers are asked of, and which instructions may have made what their operands are.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cpu/analysis/instructions/number_checks.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::runtime {

/// Where an operand's value may come from, by way of registers.
struct NumberSources {
  std::vector<std::uint64_t> makers;  ///< places of arithmetic and loads
  bool is_exchanged = false;          ///< by a shuffle: from another lane of the warp
  std::uint32_t constant_line = 0;    ///< a constant that is NaN or infinite; 0: none
  std::uint32_t parameter_line = 0;   ///< a parameter of the kernel or function, or a result of a call
};

struct NumberPlace {
  const ptx::Function* function = nullptr;
  const ptx::Instruction* instruction = nullptr;
  const analysis::NumberCheck* check = nullptr;  ///< null for loads and stores
  std::optional<analysis::NumberTest> held;      ///< what registers of a load or store have in them
  std::vector<NumberSources> sources;            ///< by operand of the check; of a store, of each stored value
  std::string text;                              ///< "mul.f32 at k.cu:9 (PTX line 40)"
  /// Events of each kind in this launch, and whom the last value that was handed on is counted for.
  mutable std::atomic<std::uint64_t> seen[7] = {};
  mutable std::atomic<std::atomic<std::uint64_t>*> handed_for{nullptr};
};

class NumberPlaces {
 public:
  explicit NumberPlaces(const ptx::Module& module) : module_(module) {}

  /// `place`: PTX line, and in the high half the column (0: the product of matrices in it). Null if there is none.
  const NumberPlace* at(std::uint64_t place);

 private:
  struct Analysed {
    explicit Analysed(const ptx::Function& function);
    analysis::NumberChecks checks;
    std::vector<std::vector<std::uint32_t>> definitions;  ///< by register
  };
  Analysed& analysed(const ptx::Function& function);
  NumberSources sources_of(const ptx::Function& function, const ptx::Operand& operand);

  const ptx::Module& module_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<NumberPlace>> known_;
  std::map<const ptx::Function*, std::unique_ptr<Analysed>> analysed_;
};

}  // namespace cucore::cpu::runtime
