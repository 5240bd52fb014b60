// What nodes of graphs are given: memory to copy and fill, conditions, functions of the host, options of allocations.
//
// Ownership: an operand that is made of a Buffer keeps its allocation (closing the Buffer is harmless); one made of an
// address keeps what is given with it. Thread-safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/error.hpp"
#include "cucore/export.hpp"

namespace cucore {

/// Where the memory of an allocation node lies.
enum class GraphMemoryType { device, host, managed };

/// How a conditional node chooses (CUgraphConditionalNodeType).
enum class GraphConditionalType { if_ = 0, while_ = 1, switch_ = 2 };

/// A value that device code sets and conditional nodes read. It is passed to kernels as an argument
/// (cudaGraphConditionalHandle).
class GraphCondition {
 public:
  explicit constexpr GraphCondition(std::uint64_t handle) noexcept : handle_(handle) {}
  constexpr std::uint64_t handle() const noexcept { return handle_; }
  friend constexpr bool operator==(const GraphCondition&, const GraphCondition&) = default;

 private:
  std::uint64_t handle_;
};

/// The source or destination of a copy or a fill: the address, the kind of memory, and what keeps it alive.
class CUCORE_API MemoryOperand {
 public:
  enum class Kind { ask, ask_else_host, device, host };

  /// The buffer's memory; its allocation is retained, so the Buffer may be closed. Memory that the driver does not know
  /// is the host's. @throws ValueError closed
  MemoryOperand(const Buffer& buffer);
  /// An address; the driver is asked what memory that is, and an address it does not know counts as device memory.
  /// Retains only `owner`.
  MemoryOperand(DevicePointer address, std::shared_ptr<const void> owner = nullptr) noexcept
      : address_(address), owner_(std::move(owner)) {}
  /// Memory of the host, page-locked or not: the only way to name pageable memory by its address.
  static MemoryOperand host(const void* address, std::shared_ptr<const void> owner = nullptr) noexcept;
  /// Memory of a device, without asking.
  static MemoryOperand device(DevicePointer address, std::shared_ptr<const void> owner = nullptr) noexcept;

  DevicePointer address() const noexcept { return address_; }
  Kind kind() const noexcept { return kind_; }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  /// The owner to pass with an address into a Buffer's memory. @throws ValueError closed
  static std::shared_ptr<const void> allocation_of(const Buffer& buffer);

 private:
  DevicePointer address_ = 0;
  Kind kind_ = Kind::ask;
  std::shared_ptr<const void> owner_;
};

/// What a fill repeats: 1, 2 or 4 bytes. A number has the width of its type: 0 is four bytes, std::uint8_t{0} one.
class CUCORE_API FillPattern {
 public:
  template <FillValue T>
  FillPattern(const T& value) : FillPattern(from_bytes(std::as_bytes(std::span(&value, 1)))) {}
  /// @throws ValueError another width
  static FillPattern from_bytes(std::span<const std::byte> element);
  std::uint32_t value() const noexcept { return value_; }
  unsigned element_size() const noexcept { return element_size_; }

 private:
  FillPattern(std::uint32_t value, unsigned element_size) noexcept : value_(value), element_size_(element_size) {}
  std::uint32_t value_;
  unsigned element_size_;
};

/// A C function for a host node, called on a thread of the driver's; it must not call CUDA.
using HostFunction = void (*)(void* user_data);

/// Thrown by a callback that has reported its failure itself: recorded as the graph's last_callback_error(), and not
/// sent to the release failure handler again.
class CUCORE_API CallbackFailure : public Error {
 public:
  using Error::Error;
};

struct GraphAllocationOptions {
  std::optional<int> device = std::nullopt;  ///< ordinal; unset: the current context's
  GraphMemoryType memory_type = GraphMemoryType::device;
  std::vector<int> peer_access = {};  ///< ordinals of further devices that may read and write it
};

/// Kernel arguments for an update, and what they keep alive.
struct KernelArguments {
  void* const* values = nullptr;  ///< one pointer for each parameter, as launch_unchecked() takes them
  std::shared_ptr<const void> owner = nullptr;
};

}  // namespace cucore
