// Changes the code of a running grid: see later_code.hpp.
#include "cpu/runtime/execution/later_code.hpp"

#include <mutex>

#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/process/trace.hpp"

namespace cucore::cpu::runtime {
namespace {

const char* name_of(const Code& code) { return code.info.form == FormOfCode::Scalar ? "scalar" : "vector"; }

}  // namespace

bool has_later_code(const Grid& grid, const Code& code) {
  return grid.later && &code == grid.code.get() && !grid.has_taken_later.load(std::memory_order_relaxed) &&
         grid.later->is_made();
}

bool go_on_in_later_code(Grid& grid, const Code& code) {
  if (!grid.later || &code != grid.code.get() || !grid.later->is_made()) return false;
  std::call_once(grid.later_once, [&] {
    std::shared_ptr<LaterForm> later = grid.later;
    if (grid.function->code(grid.state.block, 0, &grid.later_code, &later) == CUDA_SUCCESS)
      grid.current.store(grid.later_code.get(), std::memory_order_release);
    grid.has_taken_later.store(true, std::memory_order_relaxed);
  });
  return &grid.code_now() != &code;
}

TimedInScalarForm::TimedInScalarForm(Grid& grid, unsigned int threads) : grid_(grid) {
  if (!grid.later) return;
  go_on_in_later_code(grid, *grid.code);
  first_ = &grid.code_now();
  if (first_ == grid.code.get()) run_.emplace(grid.later, threads);
}

TimedInScalarForm::~TimedInScalarForm() {
  if (first_ == nullptr || !trace::is_open()) return;
  const Code& last = grid_.code_now();
  trace::add_to_work("form", &last == first_ || name_of(last) == std::string_view(name_of(*first_))
                                 ? name_of(*first_)
                                 : "scalar, then vector");
}

}  // namespace cucore::cpu::runtime
