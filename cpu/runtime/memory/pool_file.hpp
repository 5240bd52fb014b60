// The file behind a pool that can be shared: its first page says what the pool is, then comes the memory, and behind
// that, for each page, the number of the allocation that begins there. Sparse: pages come with their first use.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::runtime::pool_file {

inline constexpr std::uint64_t kMagic = 0x6c6f6f7065726f63;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kLargest = std::size_t{1} << 42;  ///< bytes of memory
inline constexpr std::size_t kNumbers = kLargest / kPage * sizeof(std::uint64_t);

constexpr std::size_t whole_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

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
