// ArgumentPack: collects kernel arguments whose types are known only at run time, and converts each to its parameter's
// type. The Python package packs with it, as bindings to any other language can.
//
//   cucore::ArgumentPack pack(kernel);
//   pack.add_float(2.0);                 // goes as half, float or double, as the parameter wants
//   pack.add_pointer(buffer.handle());
//   pack.add_integer(n);                 // range-checked against the parameter's width and sign
//   pack.launch(stream, config);
//
// Every add_ member throws TypeError if the parameters are used up or the value cannot be passed for the next one, and
// ValueError if a number does not fit into it; nothing is added then. Where the parameter's type is not known, and for
// structs of exactly that size, the widths are those of NVIDIA's cuda.core: integers and floats 8 bytes, complex
// numbers 16, bool 1. Values lie in one block at the parameters' own offsets, inline up to 1 KiB and 64 arguments;
// above that the constructor allocates once. Not thread-safe; use one per launch, on the stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/kernel.hpp"

namespace cucore {

class ResolvedConfig;
class Stream;
struct LaunchConfig;

class CUCORE_API ArgumentPack {
 public:
  /// Keeps a reference to `kernel`, which must outlive this object. @throws StateError `kernel` refers to nothing
  explicit ArgumentPack(const Kernel& kernel);
  explicit ArgumentPack(Kernel&& kernel) = delete;
  /// Packs into the caller's memory: `block` of block_bytes(), aligned to 64, and `values` with one pointer for every
  /// parameter. @throws TypeError the kernel's parameters are not known
  ArgumentPack(const Kernel& kernel, std::span<std::byte> block, std::span<void*> values);
  ~ArgumentPack() {
    if (owned_ != nullptr) free_owned();
  }
  ArgumentPack(const ArgumentPack&) = delete;
  ArgumentPack& operator=(const ArgumentPack&) = delete;

  /// Bytes that the values of a kernel with this signature need.
  static std::size_t block_bytes(const Signature& signature) noexcept { return signature.bytes() + slack; }

  /// A number, or an address where the parameter is a pointer. @throws ValueError out of the parameter's range
  void add_integer(std::int64_t value) {
    if (count_ < expected_) [[likely]] {
      const detail::ParameterSlot& slot = slots_[count_];
      if (slot.takes(value)) [[likely]] {
        // Little-endian: the low bytes come first, and what follows is written later or is slack.
        std::memcpy(place(slot), &value, sizeof value);
        return;
      }
    }
    convert_integer(value);
  }
  /// The same for numbers above INT64_MAX.
  void add_unsigned(std::uint64_t value);
  void add_bool(bool value);
  /// Converted to half, bfloat16, float or double, as the parameter is. An integer parameter refuses it.
  void add_float(double value) {
    if (count_ < expected_) [[likely]] {
      const detail::ParameterSlot& slot = slots_[count_];
      if (slot.kind == ParameterKind::floating && slot.size >= 4) [[likely]] {
        if (slot.size == 8) {
          std::memcpy(place(slot), &value, 8);
        } else {
          const auto single = static_cast<float>(value);
          std::memcpy(place(slot), &single, 4);
        }
        return;
      }
    }
    convert_float(value);
  }
  /// Converted to a pair of floats or doubles by the parameter's size (8 or 16 bytes).
  void add_complex(double real, double imaginary);
  void add_pointer(DevicePointer address) { add_value(&address, sizeof address, ParameterKind::pointer); }
  /// A value that brings its own type: fixed-width numbers and structs. The size must be the parameter's.
  void add_value(const void* bytes, std::size_t size, ParameterKind kind) {
    if (count_ < expected_) [[likely]] {
      const detail::ParameterSlot& slot = slots_[count_];
      if (size == slot.size && (slot.fitting_kinds >> static_cast<unsigned>(kind) & 1u) != 0) [[likely]] {
        copy(place(slot), bytes, size);
        return;
      }
    }
    refuse_or_append(bytes, size, kind);
  }

  /// How many arguments have been added.
  std::size_t size() const noexcept { return count_; }
  /// The parameter the next argument is for; null if there is none, or nothing is known of it.
  const Parameter* next() const noexcept;
  const Kernel& kernel() const noexcept { return *kernel_; }
  /// One pointer to each value. @throws TypeError arguments are missing
  void* const* values() const {
    if (count_ != expected_ && signature_ != nullptr) [[unlikely]] {
      refuse_count();
    }
    return values_;
  }
  /// @throws TypeError arguments are missing, or as launch_arguments()
  void launch(const Stream& stream, const LaunchConfig& config) const;
  /// The same with a config that has been checked before.
  void launch(const Stream& stream, const ResolvedConfig& config) const;

 private:
  struct Owned;

  std::byte* place(const detail::ParameterSlot& slot) noexcept {
    std::byte* const at = block_ + slot.offset;
    values_[count_++] = at;
    return at;
  }
  static void copy(std::byte* to, const void* from, std::size_t size) noexcept {
    if (size == 8) {
      std::memcpy(to, from, 8);
    } else if (size == 4) {
      std::memcpy(to, from, 4);
    } else {
      std::memcpy(to, from, size);
    }
  }
  void convert_integer(std::int64_t value);
  void place_integer(bool negative, std::uint64_t magnitude);
  void convert_float(double value);
  void refuse_or_append(const void* bytes, std::size_t size, ParameterKind kind);
  /// Room for a value of a kernel nothing is known about.
  void* append(std::size_t size);
  /// The parameter the next argument is for. @throws TypeError there is none
  const Parameter& required();
  [[noreturn]] void refuse_count() const;
  void free_owned() noexcept;

  static constexpr std::size_t slack = 8;  // add_integer() writes 8 bytes whatever the parameter's size
  static constexpr std::size_t inline_bytes = 1024;
  static constexpr std::size_t inline_arguments = 64;

  // Not initialised: only what is added is written.
  alignas(64) std::array<std::byte, inline_bytes + slack> inline_block_;
  std::array<void*, inline_arguments> inline_values_;

  const Kernel* kernel_;
  const Signature* signature_;  // the kernel's; null: not known
  const detail::ParameterSlot* slots_ = nullptr;
  std::size_t expected_ = 0;  // 0 where nothing is known
  std::size_t count_ = 0;
  std::byte* block_ = inline_block_.data();
  void** values_ = inline_values_.data();
  Owned* owned_ = nullptr;
};

}  // namespace cucore
