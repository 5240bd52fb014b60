// What stands in the headers: see nvrtc_headers.hpp. NVRTC itself declares what CUDA has of mathematics, printf,
// malloc, memcpy and the like, so most headers have nothing to add but names in std.
#include "cpu/toolkit_shims/nvrtc_headers.hpp"

#include <array>

namespace cucore::cpu::toolkit_shims {

namespace {

constexpr char no_interval[] = "#pragma once\n";

constexpr char stddef[] = R"(#pragma once
typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
)";

constexpr char stdint[] = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807L - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
)";

constexpr char temperature_limits[] = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
)";

constexpr char cuda_float_header[] = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define FLT_DIG 6
#define DBL_DIG 15
#define FLT_MIN_EXP (-125)
#define DBL_MIN_EXP (-1021)
#define FLT_MAX_EXP 128
#define DBL_MAX_EXP 1024
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_EPSILON 1.1920928955078125e-7F
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_EPSILON 2.22044604925031308085e-16
)";

constexpr char math[] = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF INFINITY
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

constexpr char assert[] = R"(
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, decltype(sizeof(0)));
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif
)";

constexpr char cstddef[] = "#pragma once\n#include <stddef.h>\nnamespace std { using ::size_t; using ::ptrdiff_t; }\n";

constexpr char cstdint[] = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;
}
)";

constexpr char cmath[] = R"(#pragma once
#include <math.h>
namespace std {
using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt;
using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2;
using ::expm1; using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;
using ::frexp; using ::hypot; using ::ilogb; using ::ldexp; using ::lgamma; using ::log; using ::log10; using ::log1p;
using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nearbyint; using ::pow;
using ::remainder; using ::rint; using ::round; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh;
using ::tgamma; using ::trunc; using ::abs; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
}
)";

constexpr std::array nvrtc_headers{
    MemoryHeader{"stddef.h", stddef},
    MemoryHeader{"cstddef", cstddef},
    MemoryHeader{"stdint.h", stdint},
    MemoryHeader{"inttypes.h", stdint},
    MemoryHeader{"cstdint", cstdint},
    MemoryHeader{"limits.h", temperature_limits},
    MemoryHeader{"climits", temperature_limits},
    MemoryHeader{"float.h", cuda_float_header},
    MemoryHeader{"cfloat", cuda_float_header},
    MemoryHeader{"math.h", math},
    MemoryHeader{"cmath", cmath},
    MemoryHeader{"assert.h", assert},
    MemoryHeader{"cassert", assert},
    MemoryHeader{"stdio.h", stddef},
    MemoryHeader{"cstdio", stddef},
    MemoryHeader{"stdlib.h", stddef},
    MemoryHeader{"cstdlib", stddef},
    MemoryHeader{"string.h", stddef},
    MemoryHeader{"cstring", stddef},
    MemoryHeader{"stdbool.h", no_interval},
};

}  // namespace

std::span<const MemoryHeader> standard_headers() { return nvrtc_headers; }

}  // namespace cucore::cpu::toolkit_shims
