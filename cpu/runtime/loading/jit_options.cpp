// JIT options: see jit_options.hpp.
#include "cpu/runtime/loading/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cucore::cpu::runtime {

CUresult JitOptions::read(unsigned int count, CUjit_option* options, void** values, JitOptions* out) {
  *out = {};
  if (count == 0) return CUDA_SUCCESS;
  if (!options || !values) return CUDA_ERROR_INVALID_VALUE;
  out->values_ = values;
  for (unsigned int i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(values[i]));
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        out->error_buffer_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        out->error_size_ = number;
        out->error_index_ = static_cast<int>(i);
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        out->info_buffer_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        out->info_size_ = number;
        out->info_index_ = static_cast<int>(i);
        break;
      case CU_JIT_WALL_TIME:
        out->time_index_ = static_cast<int>(i);
        break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        if (number > 4) return CUDA_ERROR_INVALID_VALUE;
        break;
      default:
        // The others steer a GPU's assembler; they are checked for being options and change nothing here.
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
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
