// Goes through a body and writes it anew; labels stay where they were.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// Calls `rewrite` with each instruction of a function's body, which it puts, or what stands for it, at the end of the
/// new body: `function.body`, in which it finds what came before.
template <typename Rewrite>
void rewrite_body(Function& function, Rewrite&& rewrite) {
  std::vector<Instruction> old = std::exchange(function.body, {});
  std::vector<std::uint32_t> begins;
  begins.reserve(old.size() + 1);
  for (Instruction& instruction : old) {
    begins.push_back(static_cast<std::uint32_t>(function.body.size()));
    rewrite(std::move(instruction));
  }
  begins.push_back(static_cast<std::uint32_t>(function.body.size()));
  for (Label& label : function.labels) label.instruction = begins[label.instruction];
}

}  // namespace cucore::cpu::ptx
