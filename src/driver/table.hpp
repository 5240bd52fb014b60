// The table of driver functions: the only way cucore reaches a driver.
//
//   driver::check(driver::table().cuStreamSynchronize(stream), "cuStreamSynchronize", [&] { return describe(stream);
//   });
//
// table() opens the driver at first use. It is never closed: code that runs late in the process can still read the
// table, and table_for_release() tells it to make no calls. Thread-safe.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "src/driver/abi.hpp"
#include "src/driver/abi_graphs.hpp"

namespace cucore::driver {

struct Table {
#define DRIVER_FUNCTION(name, version, parameters) CUresult(*name) parameters;
#include "src/driver/functions.def"
};

/// The open driver's table; null while there is none, and when none may be called any more. Read through the functions
/// below, which are inline because every driver call begins with one.
extern std::atomic<const Table*> current_table;

/// What table() does the first time, or when there is no driver to call.
[[gnu::cold]] const Table& open_table();

/// The driver's functions, after cuInit. @throws UnavailableError, StateError (forked child, process exit)
inline const Table& table() {
  if (const Table* table = current_table.load(std::memory_order_acquire)) [[likely]] {
    return *table;
  }
  return open_table();
}

/// For releases: null when nothing may be released any more, because the process is exiting, because this is a forked
/// child, or because no driver was ever opened.
inline const Table* table_for_release() noexcept { return current_table.load(std::memory_order_acquire); }

/// Whether a driver has been opened in this process, without opening one.
inline bool is_open() noexcept { return table_for_release() != nullptr; }

/// Whether the driver that has been opened is a GPU's, not the CPU device's.
bool is_gpu() noexcept;

/// The last kernel fault in words, if the driver describes it: the CPU device names kernel, block, thread and line.
std::string last_fault();

/// The driver's name for a result code, e.g. "CUDA_ERROR_NOT_READY"; "CUDA_ERROR_<n>" for one that is not known. No
/// driver needs to be open.
std::string result_name(CUresult code);

/// What the code means, in words; empty if unknown.
std::string result_explanation(CUresult code);

/// Builds and throws the DriverError for a failed call. `on` names the object concerned ("Stream 0x... of device 0");
/// `hint` says what to do, if more is known than the usual advice for the code; `log` is a JIT log.
[[noreturn]] void fail(CUresult code, const char* call, std::string_view on, std::string_view hint = {},
                       std::string log = {});

/// The error itself, for places that must not throw.
DriverError error_for(CUresult code, const char* call, std::string_view on, std::string_view hint = {},
                      std::string log = {});

/// Throws if `code` is not success. `on`: a string, or a callable returning one that is called only on failure.
template <class Object>
inline void check(CUresult code, const char* call, const Object& on, std::string_view hint = {}) {
  if (code == CUDA_SUCCESS) [[likely]] {
    return;
  }
  if constexpr (requires { on(); }) {
    fail(code, call, on(), hint);
  } else {
    fail(code, call, on, hint);
  }
}

}  // namespace cucore::driver
