// Texture and surface references, the bindings of programs older than texture objects: a variable of a module, of type
// .texref or .surfref, that the host binds to memory. Here the variable holds the handle of an object that is made anew
// with each change, and kernels read through that. Thread-safe.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// What the host says of a reference. The format is that of memory; arrays have their own.
struct ReferenceState {
  ReferenceState() {
    std::fill(std::begin(texture.addressMode), std::end(texture.addressMode), CU_TR_ADDRESS_MODE_CLAMP);
  }

  CUDA_RESOURCE_DESC resource{};
  bool is_bound = false;
  CUDA_TEXTURE_DESC texture{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned int channels = 1;
};

/// The reference whose variable is `memory`; the same handle each time. `*ends_with_module`, if it is the first time:
/// ends the reference when it goes.
CUtexref texture_reference_at(std::uint64_t* memory, std::shared_ptr<const void>* ends_with_module);
CUsurfref surface_reference_at(std::uint64_t* memory, std::shared_ptr<const void>* ends_with_module);
/// A reference that no kernel knows.
CUtexref create_texture_reference();
/// InvalidHandle if it is not there, InvalidValue if it is a module's.
Result<void> destroy_texture_reference(CUtexref reference);

/// InvalidHandle if there is no such reference.
Result<ReferenceState> state_of(CUtexref reference);
Result<ReferenceState> state_of(CUsurfref reference);
/// No kernel that uses the reference may be running or queued: kernels see the binding as it is when they run.
Result<void> change(CUtexref reference, const ReferenceState& state);
Result<void> change(CUsurfref reference, const ReferenceState& state);

}  // namespace cucore::cpu::runtime
