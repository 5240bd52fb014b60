// JIT options: see jit_options.hpp.
#include "cpu/runtime/loading/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cucore::cpu::runtime {

Result<JitOptions> JitOptions::read(unsigned int count, CUjit_option* options, void** values) {
  JitOptions read;
  if (count == 0) return read;
  if (!options || !values) return ErrorCode::InvalidValue;
  read.values_ = values;
  for (unsigned int i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(values[i]));
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        read.error_buffer_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        read.error_size_ = number;
        read.error_index_ = static_cast<int>(i);
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        read.info_buffer_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        read.info_size_ = number;
        read.info_index_ = static_cast<int>(i);
        break;
      case CU_JIT_WALL_TIME:
        read.time_index_ = static_cast<int>(i);
        break;
      case CU_JIT_MAX_REGISTERS:
        read.max_registers_ = number;
        break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        if (number > 4) return ErrorCode::InvalidValue;
        break;
      default:
        // The others steer a GPU's assembler; they are checked for being options and change nothing here.
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return ErrorCode::InvalidValue;
    }
  }
  return read;
}

void JitOptions::write(char* buffer, unsigned int size, int index, std::string_view text) const {
  if (!buffer || size == 0) return;
  const std::size_t taken = std::min<std::size_t>(text.size(), size - 1);
  std::memcpy(buffer, text.data(), taken);
  buffer[taken] = '\0';
  if (index >= 0) values_[index] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(taken));
}

void JitOptions::write_wall_time(float milliseconds) const {
  if (time_index_ < 0) return;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &milliseconds, sizeof bits);
  values_[time_index_] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
}

}  // namespace cucore::cpu::runtime
