// Grids that begin in the scalar form and go on in another one between two blocks, or before the first, when that is
// there (cpu/runtime/loading/forms/later_form.hpp).
#pragma once

#include <optional>

#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/loading/forms/later_form.hpp"

namespace cucore::cpu::runtime {

/// Whether blocks of `grid` that run `code` are to end their round, since there is other code for those that follow.
bool has_later_code(const Grid& grid, const Code& code);

/// For who has seen that: makes it the code of the blocks that begin now. On a stack of the host's. False: there is
/// none, and `code` goes on.
bool go_on_in_later_code(Grid& grid, const Code& code);

/// What runs a grid, on so many threads, says so while it does: the time in the scalar form decides when the other form
/// is compiled.
class TimedInScalarForm {
 public:
  TimedInScalarForm(Grid& grid, unsigned int threads);
  /// Says in the trace which forms there were.
  ~TimedInScalarForm();
  TimedInScalarForm(const TimedInScalarForm&) = delete;
  TimedInScalarForm& operator=(const TimedInScalarForm&) = delete;

 private:
  const Grid& grid_;
  const Code* first_ = nullptr;  ///< that it began with
  std::optional<LaterForm::Run> run_;
};

}  // namespace cucore::cpu::runtime
