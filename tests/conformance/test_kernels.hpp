// Kernels for the conformance tests, as PTX text, and the few lines every test needs around them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cucore/cucore.hpp"

namespace cucore::test {

/// PTX of all kernels:
///   _Z5saxpyfPKfPfi            saxpy(float, float const*, float*, int)
///   saxpy_c                    the same, extern "C"
///   _Z4echoP<T><T>             *out = value, for every scalar type (also __half and __nv_bfloat16)
///   _Z4copy5Block PS_          *out = value, a struct of 24 bytes
///   count_threads(u64 out)     adds 1 for every thread of the launch
///   touch_shared(u64 out, u32 bytes)   writes and reads the last 4 of `bytes` of dynamic shared memory
///   fixed_shared(u64 out)      uses 1 KiB of static shared memory
///   sum_many(u64 out, u32 x 70)
///   spin(u64 out, u64 n)       n dependent volatile stores to *out
///   at_most_64_threads()       .maxntid 64
///   no_parameters()
/// and the variables `counter` (u32, 7) and `table` (u32[4]).
const std::string& kernels_ptx();

/// PTX of one kernel `trap_now` that ends in trap.
const std::string& trapping_ptx();

/// The kernel from kernels_ptx(), loaded once per process.
Kernel kernel(const char* name);

/// Device 0.
inline Device device() { return Device(0); }

/// What a buffer holds, after everything before in the stream.
template <class T>
std::vector<T> read(const Buffer& buffer, const Stream& stream) {
  std::vector<T> values(buffer.size() / sizeof(T));
  buffer.copy_to(Buffer::from_handle(reinterpret_cast<DevicePointer>(values.data()), buffer.size()), stream);
  stream.sync();
  return values;
}

/// Copies values into a buffer and waits.
template <class T>
void write(const Buffer& buffer, const std::vector<T>& values, const Stream& stream) {
  buffer.copy_from(Buffer::from_handle(reinterpret_cast<DevicePointer>(values.data()), values.size() * sizeof(T)),
                   stream);
  stream.sync();
}

/// The text of what `function` throws.
template <class Function>
std::string refusal(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// That `text` has all the parts.
template <class... Parts>
testing::AssertionResult says(const std::string& text, const Parts&... parts) {
  std::string missing;
  ((text.find(parts) == std::string::npos ? void(missing += std::string(" '") + parts + "'") : void()), ...);
  if (missing.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "does not say" << missing << ": " << text;
}

}  // namespace cucore::test
