// A compiled kernel as it stands in a file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cpu/abi/compiler.hpp"

namespace cucore::cpu::loader {

/// A digest of everything the object code depends on (kernel_key.hpp).
struct KernelKey {
  std::array<std::uint8_t, 32> digest;

  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};

/// The bytes of a file: a mark with the layout's version, the key, the record, a digest of all that.
std::string encode(const KernelKey& key, const KernelRecord& record);

/// Nothing unless `bytes` is, bit for bit, what `encode` made of that key and a record.
std::optional<KernelRecord> decode(const KernelKey& key, std::string_view bytes);

}  // namespace cucore::cpu::loader
