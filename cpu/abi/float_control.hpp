// How the processor computes with floating-point numbers on the calling thread: its control register, of which each
// kind of processor has one.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace cucore::cpu {

/// Rounding modes, by the numbers that built-ins take.
enum class HostRounding : std::uint32_t { Nearest, Zero, Down, Up };

#if defined(__x86_64__)
using FloatControl = std::uint32_t;  ///< MXCSR
/// To nearest, nothing trapped, nothing flushed to zero.
inline constexpr FloatControl default_float_control = 0x1f80;

inline FloatControl float_control() { return _mm_getcsr(); }
inline void set_float_control(FloatControl control) { _mm_setcsr(control); }

constexpr FloatControl with_rounding(FloatControl control, HostRounding rounding) {
  constexpr FloatControl field = 0x6000, modes[] = {0, 0x6000, 0x2000, 0x4000};
  return (control & ~field) | modes[static_cast<std::uint32_t>(rounding)];
}
#elif defined(__aarch64__)
using FloatControl = std::uint64_t;  ///< FPCR
/// To nearest, nothing trapped, nothing flushed to zero, NaNs handed on.
inline constexpr FloatControl default_float_control = 0;

inline FloatControl float_control() {
  FloatControl control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void set_float_control(FloatControl control) { asm volatile("msr fpcr, %0" ::"r"(control)); }

constexpr FloatControl with_rounding(FloatControl control, HostRounding rounding) {
  constexpr FloatControl field = 3U << 22, modes[] = {0, 3U << 22, 2U << 22, 1U << 22};
  return (control & ~field) | modes[static_cast<std::uint32_t>(rounding)];
}
#else
#error "the CPU device knows x86-64 and 64-bit Arm"
#endif

}  // namespace cucore::cpu
