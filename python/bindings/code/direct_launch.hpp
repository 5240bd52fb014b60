// The fast path of launches, straight-line code for the most frequent case: a plain config, and arguments that are
// Buffers, ints and floats which fit. Anything else, and any error, is left to the general path, which starts again and
// reports what is wrong.
//
// The driver takes some microseconds for a launch and leaves little of the program in the processor's caches, so what
// counts here is less the number of instructions than how many lines of code and of data they touch, and how many
// branches are taken: hence only calls of the driver and the interpreter, a launch's fields together in their objects,
// and the rest out of line.
#pragma once

#include <cstring>

#include "python/bindings/code/launch.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {

/// An int of one digit, which most are, without a call.
inline bool small_int(PyObject* argument, std::int64_t& value) noexcept {
  auto* const number = reinterpret_cast<PyLongObject*>(argument);
#if PY_VERSION_HEX >= 0x030C0000
  if (PyUnstable_Long_IsCompact(number) == 0) return false;
  value = PyUnstable_Long_CompactValue(number);
#else
  const Py_ssize_t size = Py_SIZE(number);
  if (size < -1 || size > 1) return false;
  value = size * static_cast<std::int64_t>(number->ob_digit[0]);
#endif
  return true;
}

/// put() for scalars of NumPy and ctypes.
[[gnu::noinline]] bool put_scalar(const detail::ParameterSlot& slot, std::byte* at, PyObject* argument) noexcept;

/// Writes one argument at its place `at`. False: it is not of the usual kind, or does not fit.
/// Eight bytes are written whatever the width: what follows is written later, or is slack. Little-endian.
[[gnu::always_inline]] inline bool put(const detail::ParameterSlot& slot, std::byte* at, PyObject* argument) noexcept {
  const PyTypeObject* const type = Py_TYPE(argument);
  if (type == &PyLong_Type) [[likely]] {
    std::int64_t value = 0;
    if (!small_int(argument, value)) [[unlikely]] {
      return false;
    }
    if (!slot.takes(value)) [[unlikely]] {
      return false;
    }
    std::memcpy(at, &value, sizeof value);
    return true;
  }
  if (type == launch_types.buffer) [[likely]] {
    const PyBuffer& buffer = *nb::inst_ptr<PyBuffer>(argument);
    constexpr unsigned pointer = 1u << static_cast<unsigned>(ParameterKind::pointer);
    if (!buffer.is_open() || slot.size != sizeof buffer.address || (slot.fitting_kinds & pointer) == 0) [[unlikely]] {
      return false;
    }
    std::memcpy(at, &buffer.address, sizeof buffer.address);
    return true;
  }
  if (type == &PyFloat_Type && slot.kind == ParameterKind::floating) {
    const double value = PyFloat_AS_DOUBLE(argument);
    if (slot.size == 4) {
      const auto single = static_cast<float>(value);
      std::memcpy(at, &single, sizeof single);
      return true;
    }
    std::memcpy(at, &value, sizeof value);
    return slot.size == 8;
  }
  return put_scalar(slot, at, argument);
}

/// All arguments of a launch, as many as the kernel has parameters, into a block with eight bytes to spare, and their
/// places into `values` unless that is null.
[[gnu::always_inline]] inline bool put_all(const detail::KernelPlan& plan, PyObject* const* arguments, std::byte* block,
                                           void** values) noexcept {
  const detail::ParameterSlot* slot = plan.slots;
  for (const detail::ParameterSlot* const end = slot + plan.count; slot != end; ++slot) {
    std::byte* const at = block + slot->offset;
    if (values != nullptr) *values++ = at;
    if (!put(*slot, at, *arguments++)) [[unlikely]] {
      return false;
    }
  }
  return true;
}

/// After the driver has refused: launches after all if only a context was missing, else raises. Returns None, or null.
[[gnu::cold, gnu::noinline]] PyObject* after_refusal(int code, const PyStream::Use& use,
                                                     const detail::NativeConfig& config, const Kernel& kernel,
                                                     void* const* values) noexcept;

/// Calls `call` without the GIL while `stream` stays usable, and answers with the driver's code. `refused` is called
/// with it, and the use of the stream, if it is one of failure, or if another thread has just closed the stream.
template <class Call, class Refused>
[[gnu::always_inline]] inline PyObject* without_gil_on(const PyStream& stream, Call&& call, Refused&& refused) {
  PyStream::Use use(stream);
  if (!use.is_open()) return refused(0, use);
  PyThreadState* const thread = PyEval_SaveThread();
  const int code = call();
  if (code == 0) use.end_without_gil();
  restore_thread(thread);
  if (code != 0) [[unlikely]] {
    return refused(code, use);
  }
  if (failed_releases_wait.load(std::memory_order_relaxed)) [[unlikely]] {
    warn_of_failed_releases();
  }
  Py_RETURN_NONE;
}

/// Up to so many parameters, in so many bytes, are packed in the caller's frame.
inline constexpr std::uint32_t few_arguments = 32;
inline constexpr std::uint32_t few_bytes = 256;

/// For kernels with more parameters; a function of its own because of its stack frame. `config` has its stream in it.
/// `done` is false if the general path has to be taken.
[[gnu::noinline]] PyObject* launch_many(const PyStream& stream, const detail::NativeConfig& config,
                                        const detail::KernelPlan& plan, PyObject* const* arguments,
                                        bool& done) noexcept;

/// Launches and answers with None, or null and an exception; or calls `general()`. `kernel()` is for messages.
template <class KernelOf, class General>
[[gnu::always_inline]] inline PyObject* launch_directly(PyObject* stream_object, detail::NativeConfig config,
                                                        const detail::KernelPlan* plan, PyObject* const* arguments,
                                                        Py_ssize_t count, KernelOf&& kernel, General&& general) {
  const PyStream& stream = *nb::inst_ptr<PyStream>(stream_object);
  // A kernel with unknown parameters has a count that never matches; nor does any count before they are looked up.
  if (stream.is_open() && plan != nullptr && plan->learned.load(std::memory_order_acquire) &&
      static_cast<std::size_t>(count) == plan->count) [[likely]] {
    config.stream = reinterpret_cast<StreamHandle>(stream.identity());
    if (plan->count <= few_arguments && plan->bytes <= few_bytes) [[likely]] {
      alignas(16) std::byte block[few_bytes + 8];  // not initialised, as below: only what is passed is written
      void* values[few_arguments];
      if (put_all(*plan, arguments, block, values)) [[likely]] {
        return without_gil_on(
            stream, [&] { return detail::launch_native(config, plan->handle, values); },
            [&](int code, const PyStream::Use& use) {
              if (!use.is_open()) return general();
              return after_refusal(code, use, config, kernel(), values);
            });
      }
    } else {
      bool done = true;
      PyObject* const answer = launch_many(stream, config, *plan, arguments, done);
      if (done) return answer;
    }
  }
  return general();
}

}  // namespace cucore::python
