// What nodes are given: see graph_operand.hpp.
#include "cucore/graph_operand.hpp"

#include <cstring>
#include <string>

namespace cucore {

MemoryOperand::MemoryOperand(const Buffer& buffer)
    : address_(buffer.handle()), kind_(Kind::ask_else_host), owner_(allocation_of(buffer)) {}

MemoryOperand MemoryOperand::host(const void* address, std::shared_ptr<const void> owner) noexcept {
  MemoryOperand operand(static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(address)), std::move(owner));
  operand.kind_ = Kind::host;
  return operand;
}

MemoryOperand MemoryOperand::device(DevicePointer address, std::shared_ptr<const void> owner) noexcept {
  MemoryOperand operand(address, std::move(owner));
  operand.kind_ = Kind::device;
  return operand;
}

std::shared_ptr<const void> MemoryOperand::allocation_of(const Buffer& buffer) {
  if (!buffer) {
    throw ValueError({.call = "MemoryOperand",
                      .message = "a Buffer given to a graph node has been closed: it has no allocation to keep",
                      .hint = "add the node before the Buffer is closed"});
  }
  return buffer.state();
}

FillPattern FillPattern::from_bytes(std::span<const std::byte> element) {
  const std::size_t size = element.size();
  if (size != 1 && size != 2 && size != 4) {
    throw ValueError({.call = "FillPattern",
                      .message = "a fill value has 1, 2 or 4 bytes; this one has " + std::to_string(size),
                      .hint = "fill wider elements with a kernel"});
  }
  std::uint32_t value = 0;
  std::memcpy(&value, element.data(), size);  // little-endian
  return {value, static_cast<unsigned>(size)};
}

}  // namespace cucore
