// Links PTX modules by concatenating their texts under one header: external declarations then meet their
// definitions in one module. Names that are private to an input and known to another are changed; of several weak
// definitions one stays; what is defined twice or not at all is an error, as it is for the driver's linker.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/linker/link_inputs.hpp"
#include "cpu/runtime/loading/jit_options.hpp"

namespace cucore::cpu::runtime {

class PtxLinker {
 public:
  /// `name` is for messages. CUDA's device runtime library is ignored (device_runtime_ptx.hpp).
  void add(std::string ptx, std::string name);
  /// The linked PTX. InvalidImage if a symbol is defined twice or not at all, InvalidPtx if the whole does not parse;
  /// InvalidValue if nothing was added.
  Result<std::string> complete();

 private:
  bool calls_grid_barrier() const;

  struct Input {
    std::string ptx;
    std::string name;
  };
  std::vector<Input> inputs_;
};

/// What is behind a CUlinkState.
class LinkState {
 public:
  LinkState(const JitOptions& options, int capability) : options_(options), capability_(capability) {}

  /// Checks the input at once, as the driver does. `of_input` are its own options: where it has a log, what is wrong
  /// with the input is written there, and not to the link's; of several limits of registers the lowest counts for the
  /// image.
  Result<void> add(CUjitInputType type, const void* data, std::size_t size, const char* name,
                   const JitOptions& of_input);
  /// The linked image, a cubin that carries the PTX; it lives as long as this object.
  Result<std::string_view> complete();

 private:
  Result<std::string> link() const;
  Result<void> add_checked(CUjitInputType type, const void* data, std::size_t size, const char* name);

  const JitOptions options_;
  const int capability_;
  std::mutex mutex_;
  linker::LinkInputs inputs_;
  unsigned int max_registers_ = 0;
  std::string image_;
};

/// For devices of `capability`.
CUlinkState create_link(const JitOptions& options, int capability);
std::shared_ptr<LinkState> find_link(CUlinkState handle);
Result<void> destroy_link(CUlinkState handle);

}  // namespace cucore::cpu::runtime
