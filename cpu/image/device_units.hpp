// Device code as a linker finds it: in units, each with the same code in one or several forms, of which one is linked.
// A cubin or a fat binary is one unit; a host object has one for each file it was made from (nvcc -rdc=true puts them
// into its section __nv_relfatbin); a static library has those of its members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::image {

struct DeviceUnit {
  std::string member = {};            ///< of a library: which of its members; else empty
  std::vector<std::string> ptx = {};  ///< its modules; empty: there is none
  bool is_for_this_device = false;    ///< whatever the PTX's target: ImageContents
  std::string lto_ir = {};            ///< as a fat binary; empty: there is none
  std::string machine_code = {};      ///< a cubin; empty: there is none
};

bool is_library(std::string_view bytes);

/// The units in a cubin, fat binary, host object or library, with what fits a device of `architecture`. Fails with
/// InvalidImage if `bytes` are none of these, or damaged.
Result<std::vector<DeviceUnit>> read_device_units(std::string_view bytes, std::uint32_t architecture);

}  // namespace cucore::cpu::image
