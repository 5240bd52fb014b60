// Converts failures to CUresult and back: the only place that does.
#pragma once

#include <cuda.h>

#include <utility>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

#define ERROR_CODE(name, number, of_driver) static_assert((of_driver) == (number));
#include "cpu/error/codes.def"
#undef ERROR_CODE

inline CUresult driver_result(ErrorCode code) { return static_cast<CUresult>(code); }
inline CUresult driver_result(const Failure& failure) { return driver_result(failure.code()); }
inline CUresult driver_result(const Result<void>& result) {
  return result ? CUDA_SUCCESS : driver_result(result.failure());
}

/// `store(T&&)` is called with the value.
template <class T, class Store>
CUresult driver_result(Result<T>&& result, Store&& store) {
  if (!result) return driver_result(result.failure());
  store(*std::move(result));
  return CUDA_SUCCESS;
}

/// Writes the value at `out`.
template <class T, class To>
CUresult driver_result(Result<T>&& result, To* out) {
  return driver_result(std::move(result), [out](T&& value) { *out = std::move(value); });
}

/// Of what answers a CUresult: the parts of a launch (execution/launch.hpp).
inline Result<void> result_of(CUresult code) {
  if (code == CUDA_SUCCESS) return {};
  return static_cast<ErrorCode>(code);
}

}  // namespace cucore::cpu::runtime
