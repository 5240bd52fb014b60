// The file behind a pool that can be shared: its first page says what the pool is, then comes the memory, and behind
// that, for each page, the number of the allocation that begins there. Sparse: pages come with their first use.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "cpu/abi/pages.hpp"

namespace cucore::cpu::runtime::pool_file {

inline constexpr std::uint64_t magic_number = 0x6c6f6f7065726f63;
using cpu::page_bytes;
inline constexpr std::size_t largest_size = std::size_t{1} << 42;  ///< bytes of memory
inline constexpr std::size_t numbers = largest_size / page_bytes * sizeof(std::uint64_t);

constexpr std::size_t whole_pages(std::size_t size) { return (size + page_bytes - 1) / page_bytes * page_bytes; }

struct Header {
  std::uint64_t magic;
  CUmemPoolProps properties;
};

/// @throws std::bad_alloc
int make(const CUmemPoolProps& properties);

/// Of the allocation that begins at `offset`; 0 if none does.
bool write_number(int file, std::size_t offset, std::uint64_t number);
std::uint64_t read_number(int file, std::size_t offset);

}  // namespace cucore::cpu::runtime::pool_file
