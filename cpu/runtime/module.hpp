#pragma once
namespace cucore::cpu::runtime {
class Context;
inline void remove_modules_of(const Context&) {}
}  // namespace cucore::cpu::runtime
