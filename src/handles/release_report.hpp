// Where releases that fail are reported: the one handler of set_release_failure_handler().
#pragma once

#include <cstdint>

#include "cucore/error.hpp"
#include "src/driver/abi.hpp"

namespace cucore::detail {

/// Counts and reports. Never throws; an allocation failure while building the error only counts.
void report_release_failure(const Error& error) noexcept;
void report_release_failure(driver::CUresult code, const char* call, const void* handle) noexcept;
void report_release_failure(driver::CUresult code, const char* call, std::uint64_t handle) noexcept;

}  // namespace cucore::detail
