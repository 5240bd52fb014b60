// CUDA arrays and mipmapped arrays: opaque to programs, linear memory here, rows without gaps. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Context;

class Array {
 public:
  static Result<CUarray> create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor);
  Array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::uintptr_t address);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  std::uintptr_t address() const { return address_; }
  CUarray handle() const { return handle_; }
  std::size_t row_bytes() const;
  std::size_t rows() const;
  std::size_t slices() const;  ///< depth, or layers
  bool is_level() const { return is_level_; }
  /// For the checker: where the program destroyed it, noted before the object is freed.
  void set_destroyed_at(std::string place) { destroyed_at_ = std::move(place); }

 private:
  friend class MipmappedArray;

  const CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  const std::uintptr_t address_;
  CUarray handle_ = nullptr;
  bool is_level_ = false;  ///< of a mipmapped array, destroyed with it
  std::string destroyed_at_;
};

class MipmappedArray {
 public:
  static Result<CUmipmappedArray> create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                         unsigned int levels);
  ~MipmappedArray();

  const std::vector<std::shared_ptr<Array>>& levels() const { return levels_; }

 private:
  std::vector<std::shared_ptr<Array>> levels_;
};

std::shared_ptr<Array> find_array(CUarray handle);
std::shared_ptr<MipmappedArray> find_mipmapped_array(CUmipmappedArray handle);
Result<void> destroy_array(CUarray handle);
Result<void> destroy_mipmapped_array(CUmipmappedArray handle);

}  // namespace cucore::cpu::runtime
