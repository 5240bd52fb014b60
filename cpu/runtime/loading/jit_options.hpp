// The JIT options of a load or link call: which there are, and where the caller wants logs.
#pragma once

#include <cuda.h>

#include <string_view>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class JitOptions {
 public:
  /// Reads the caller's arrays, which must outlive this object. InvalidValue for an unknown option or a null array.
  static Result<JitOptions> read(unsigned int count, CUjit_option* options, void** values);

  /// Writes to the caller's buffer (cut to its size, closed with a zero) and stores the length back into the size
  /// option, as the driver does. Nothing happens if there is no buffer.
  void write_error_log(std::string_view text) const { write(error_buffer_, error_size_, error_index_, text); }
  bool has_error_log() const { return error_buffer_ != nullptr; }
  void write_info_log(std::string_view text) const { write(info_buffer_, info_size_, info_index_, text); }
  /// CU_JIT_WALL_TIME, in milliseconds.
  void write_wall_time(float milliseconds) const;
  /// CU_JIT_MAX_REGISTERS; 0: not given.
  unsigned int max_registers() const { return max_registers_; }

 private:
  void write(char* buffer, unsigned int size, int index, std::string_view text) const;

  void** values_ = nullptr;
  char* error_buffer_ = nullptr;
  char* info_buffer_ = nullptr;
  unsigned int error_size_ = 0, info_size_ = 0;
  int error_index_ = -1, info_index_ = -1, time_index_ = -1;
  unsigned int max_registers_ = 0;
};

}  // namespace cucore::cpu::runtime
