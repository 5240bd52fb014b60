// From calls of the device runtime to their functions; the calling thread, and its last error. See device_runtime.hpp.
#include "cpu/runtime/execution/device_runtime.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "cpu/abi/device_calls.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {

DeviceCaller::DeviceCaller(ThreadState* thread, bool has_own_stream)
    : thread_(thread), grid_(*static_cast<Grid*>(thread->block->launch->runtime)), has_own_stream_(has_own_stream) {}

std::uint64_t DeviceCaller::block_number() const {
  const std::uint32_t* const id = thread_->block->block_id;
  const std::uint32_t* const grid = grid_.state.grid;
  return (std::uint64_t{id[2]} * grid[1] + id[1]) * grid[0] + id[0];
}

std::uint64_t DeviceCaller::number() const { return block_number() * grid_.threads_per_block + thread_->linear; }

bool DeviceCaller::may_access(const void* where, std::size_t bytes, std::uint32_t access) const {
  const CheckTable* const checks = grid_.state.checks;
  return !checks ||
         checks->access(thread_, reinterpret_cast<std::uintptr_t>(where), static_cast<std::uint32_t>(bytes), access);
}

void DeviceCaller::set_error(DeviceError error) {
  const std::lock_guard lock(item()->tree->mutex());
  item()->made.errors[number()] = static_cast<std::int32_t>(error);
}

DeviceError DeviceCaller::error(bool forget) {
  const std::lock_guard lock(item()->tree->mutex());
  auto& errors = item()->made.errors;
  const auto found = errors.find(number());
  if (found == errors.end()) return DeviceError::Success;
  const auto error = static_cast<DeviceError>(found->second);
  if (forget) errors.erase(found);
  return error;
}

namespace device_runtime {

std::int32_t GetLastError(DeviceCaller& caller) { return static_cast<std::int32_t>(caller.error(true)); }
std::int32_t PeekAtLastError(DeviceCaller& caller) { return static_cast<std::int32_t>(caller.error(false)); }

}  // namespace device_runtime

namespace {

template <class T>
T operand(const void* storage) {
  T value;
  std::memcpy(&value, storage, sizeof(T));
  return value;
}

template <class... Arguments>
constexpr bool has_shape(const DeviceCallShape& shape, std::size_t result) {
  constexpr std::array<std::size_t, sizeof...(Arguments) + 1> sizes{sizeof(Arguments)..., 0};
  if (shape.result != result || sizeof...(Arguments) > most_device_call_parameters) return false;
  for (std::size_t i = 0; i < most_device_call_parameters; ++i)
    if (shape.parameters[i] != (i < sizeof...(Arguments) ? sizes[i] : 0)) return false;
  return true;
}

template <auto Function, DeviceCall Which, class R, class... Arguments>
void invoke_as(R (*)(DeviceCaller&, Arguments...), DeviceCaller& caller, void* const* operands) {
  static_assert(has_shape<Arguments...>(device_calls[static_cast<std::uint32_t>(Which)], sizeof(R)));
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    const R result = Function(caller, operand<Arguments>(operands[1 + Index])...);
    if constexpr (std::is_same_v<R, DeviceError>)
      if (result != DeviceError::Success) caller.set_error(result);
    std::memcpy(operands[0], &result, sizeof(R));
  }(std::index_sequence_for<Arguments...>{});
}

template <auto Function, DeviceCall Which>
void invoke(DeviceCaller& caller, void* const* operands) {
  invoke_as<Function, Which>(Function, caller, operands);
}

struct Handler {
  void (*invoke)(DeviceCaller& caller, void* const* operands);
  bool has_own_stream;
};

constexpr Handler handlers[] = {
#define DEVICE_CALL(name, ...) {invoke<device_runtime::name, DeviceCall::name>, false},
#define DEVICE_CALL_PTSZ(name, ...)                        \
  {invoke<device_runtime::name, DeviceCall::name>, false}, \
      {invoke<device_runtime::name, DeviceCall::name##_ptsz>, true},
#include "cpu/abi/device_calls.def"
#undef DEVICE_CALL
};
static_assert(std::size(handlers) == std::size(device_calls));

}  // namespace

}  // namespace cucore::cpu::runtime

extern "C" void cucpu_device_call(cucore::cpu::ThreadState* thread, std::uint32_t call, void* const* operands) {
  using namespace cucore::cpu::runtime;
  DeviceCaller caller(thread, handlers[call].has_own_stream);
  handlers[call].invoke(caller, operands);
}
