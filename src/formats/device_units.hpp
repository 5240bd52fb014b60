// Device code as a linker finds it: in units, each with images of the same code for several architectures, of which one
// is linked. A fat binary is one unit; a host object has one for each file it was made from (nvcc -rdc=true puts them
// into its section __nv_relfatbin); a static library has those of its members.
//
// Nothing in the bytes is trusted before it is checked against their size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/formats/fatbin.hpp"

namespace cucore::detail {

struct DeviceUnit {
  std::string member = {};  ///< of a library: which of its members; else empty
  std::vector<FatbinImage> images = {};

  /// The image that is linked for `capability` (80 for sm_80), and the best of one type; nullptr if none is usable.
  const FatbinImage* best(int capability) const;
  const FatbinImage* best(int capability, CodeType type) const;
};

struct DeviceUnits {
  std::vector<DeviceUnit> units = {};
  /// There are kernels in code that linkers ignore: a host object compiled without -rdc=true.
  bool has_whole_programs = false;
  std::string fault = {};  ///< why the bytes are not what they are called; empty if they are
};

/// Units of a fat binary, object or library, views into `bytes`; none of other types.
DeviceUnits device_units(CodeType type, std::string_view bytes);

}  // namespace cucore::detail
