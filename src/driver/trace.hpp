// CUCORE_TRACE=FILE: a timeline of every driver call, and of launches, copies and events on the device, as Chrome trace
// JSON that opens in Perfetto (docs/tracing.md).
//
// Tracing stands between the table and the driver: the functions of a traced table note a call and forward it. Without
// the variable the table is the driver's own and nothing here runs. Thread-safe.
#pragma once

#include "src/driver/table.hpp"

namespace cucore::driver::trace {

/// If CUCORE_TRACE is set: opens its file (at the first call) and puts functions into `table` that note each call.
/// If the file cannot be opened, that is reported once on standard error, and nothing is traced. `library` is the
/// driver's, of dlopen: the CPU device has a trace of its own, in which we take part, so that what other libraries of
/// the process ask of it is there too, and nothing twice.
void attach(Table& table, void* library);

/// At process exit, while the driver still works: waits a moment for what the device has not finished, and ends the
/// file.
void finish() noexcept;

/// In a child of fork(): the file is the parent's.
void abandon() noexcept;

}  // namespace cucore::driver::trace
