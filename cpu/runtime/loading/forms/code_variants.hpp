// Which form of code kernels get, and the code of one kernel: in the vector form for one shape of block each.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/flow/block_shape.hpp"
#include "cpu/runtime/loading/forms/later_form.hpp"

namespace cucore::cpu::runtime {

/// The form that a launch with such blocks asks for, by a kernel that has then run so many threads in all, if it waits
/// for it.
/// CUCORE_CPU_FORM says which, read once: `scalar`, `vector`, or else the automatic choice. CUCORE_CPU_DEBUG=1 asks for
/// the scalar one.
FormOfCode form_for(const std::uint32_t (&block)[3], std::uint64_t threads);

/// Whether a launch may begin in another form than that until there is code (LaterForm): not with
/// CUCORE_CPU_FORM=auto-at-once, with checks, nor where the form is not chosen automatically.
bool may_change_later(FormOfCode form);

/// What is asked of the compiler for that. CUCORE_CPU_DEBUG=1 asks for code for a debugger; CUCORE_CPU_PERF_MAP=1 makes
/// it known to perf. CUCORE_CPU_MARCH, the processor whose instructions are enough, is read for each compile, so that
/// one process can have code for several processors.
CompileOptions options_for(FormOfCode form, const std::uint32_t (&block)[3]);

/// The scalar form, which is for all longer blocks of one row, or for one shape of other blocks, and stays;
/// and the variants of the vector form used last. A kernel that was refused that form once keeps the scalar one. Code
/// stays whose functions have their addresses in the module's memory. Not thread-safe.
class CodeVariants {
 public:
  /// Null if there is none.
  std::shared_ptr<const Code> find(FormOfCode form, const std::uint32_t (&block)[3]);
  void add(const CompileOptions& options, std::shared_ptr<const Code> code);
  /// The scalar form that there is for another shape of block, if it serves such blocks too; from now on it is found
  /// for them. Null if there is none.
  std::shared_ptr<const Code> share_scalar(const ptx::Module& module, ptx::FunctionId kernel,
                                           const std::uint32_t (&block)[3]);
  /// The scalar form has to do for ever.
  void stay_scalar() { stays_scalar_ = true; }
  bool stays_scalar() const { return stays_scalar_; }

  /// Launches wait for vectors, or are so few that they need none.
  void have_no_later() { has_no_later_ = true; }
  bool has_no_later() const { return has_no_later_; }
  /// The vector form for such blocks, if the scalar one does meanwhile; else null.
  std::shared_ptr<LaterForm> find_later(const std::uint32_t (&block)[3]) const;
  void add_later(std::shared_ptr<LaterForm> form);
  void remove_later(const std::shared_ptr<LaterForm>& form) { std::erase(later_, form); }

 private:
  struct Variant {
    std::uint32_t block[3];
    std::shared_ptr<const Code> code;
  };
  /// The last one of a shape is used: there is a second one if the scalar form was wanted before the other was refused.
  std::vector<std::pair<analysis::BlockShape, std::shared_ptr<const Code>>> scalar_;
  bool stays_scalar_ = false;      ///< another form was asked for and refused
  std::vector<Variant> variants_;  ///< the one used last stands last
  bool has_no_later_ = false;
  std::vector<std::shared_ptr<LaterForm>> later_;
};

}  // namespace cucore::cpu::runtime
