// Sealed entries, as docs/cache-format.md describes them: a payload with its key, its compiler and a digest over all.
// python/cucore/stores/_seal.py reads and writes the same bytes; tests/unit/store holds entries of it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cucore/shared_store.hpp"

namespace cucore::detail {

/// Who signs and whose signatures count; without keys a digest shows damage and proves nothing.
struct Trust {
  std::optional<KeyRing> keys;
  bool allow_unsigned = false;
};

/// What SharedStoreOptions and the environment say. Throws ValueError if that is nothing; `call` is who asks.
Trust resolve_trust(const std::string& call, const std::optional<KeyRing>& keys, bool allow_unsigned);

/// The compiler that entries are of, as part of what is signed. Opens NVRTC.
std::string toolkit_of_entries();

std::string seal(std::string_view key, std::string_view payload, std::string_view toolkit, const Trust& trust);

/// Why an entry is not to be trusted.
struct RejectedEntry : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The payload, a part of `sealed`; of whichever compiler if no `toolkit` is given. Throws RejectedEntry.
std::string_view unseal(std::string_view key, std::string_view sealed, std::optional<std::string_view> toolkit,
                        const Trust& trust);

}  // namespace cucore::detail
