// What PTX text says about its kernels: names and parameters, read from the .entry lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/kernel.hpp"
#include "cucore/launch_config.hpp"

namespace cucore::detail {

struct PtxEntry {
  std::string name;
  std::vector<Parameter> parameters;
  Dim3 required_block{0, 0, 0};  ///< .reqntid; 0: any
};

/// All kernels of a PTX text, in order. Of text that is not PTX, what can be read, possibly nothing; the driver will
/// report the error.
std::vector<PtxEntry> ptx_entries(std::string_view ptx);

/// The kernel of that name.
std::optional<PtxEntry> ptx_entry(std::string_view ptx, std::string_view name);

/// Sets offsets by the C layout rules. @return bytes in all
std::size_t lay_out(std::vector<Parameter>& parameters);

}  // namespace cucore::detail
