// The answer by which NVIDIA's run-time library verifies the driver that it opened: a digest, with
// the key that both sides know, of who asks, when, which tables were handed out (export_tables.cpp) and which devices
// there are. Undocumented; known from projects that describe it. Without it no program on that library runs here.
#pragma once

#include <array>
#include <cstdint>

namespace cucore::cpu::api {

/// What was handed out to the caller.
struct HandedOut {
  const void* runtime_interface;
  const void* integrity_check;
  const void* function;  ///< the one that was called
};

/// `version` is the caller's, or one or two above it: the first two have fixed answers. Needs cuInit.
std::array<std::uint64_t, 2> integrity_answer(std::uint32_t version, std::uint64_t seconds, const HandedOut& tables);

}  // namespace cucore::cpu::api
