// Code that a driver loads (PTX, a cubin or a fat binary), read in one go: whether it is whole, and what is in it.
//
// The bytes may come from anywhere: nothing in them is trusted before it is checked against their size.
#pragma once

#include <string_view>
#include <vector>

#include "cucore/code_type.hpp"
#include "src/formats/fatbin.hpp"

namespace cucore::detail {

struct LoadableCode {
  const char* fault = nullptr;      ///< why no driver may be given these bytes; nullptr if it may
  CodeType type = CodeType::cubin;  ///< ptx, cubin or fatbin
  bool driver_chooses = false;      ///< a fat binary that only the driver can read in full: some of it is compressed
  /// PTX: itself. A cubin: itself, then the PTX modules it carries. A fat binary: its images.
  std::vector<FatbinImage> images{};
};

/// `type` is what the caller says the code is; code that is not PTX shows by itself whether it is a fat binary.
LoadableCode read_loadable_code(CodeType type, std::string_view bytes);

/// PTX without the NULs that end it; other code as it is.
std::string_view without_end(CodeType type, std::string_view bytes) noexcept;

/// LoadableCode::fault alone.
const char* fault_of_code(std::string_view bytes) noexcept;

}  // namespace cucore::detail
