// Live objects: what the program made through this driver and has not given back. Counted always; with
// CUCORE_CPU_REPORT_LEAKS=1 also where each was made, and at process exit those still alive are written to standard
// error. Not counted: what belongs to the driver itself (primary contexts, default pools, default streams) or to a
// counted object (functions, kernels, module variables). Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace cucore::cpu::runtime::live_objects {

/// Objects are told apart by handle or address; `kind` is a literal: "Stream", "device memory", ...
void made(const char* kind, std::uintptr_t object);
/// Also for an object that turns out to be the driver's own. Does nothing for what was never counted.
void gone(const char* kind, std::uintptr_t object);

/// "2 Stream, 1 device memory"; empty when nothing is alive.
std::string summary();

/// Where the caller is in its own language, for the report: writes at most `size` bytes, returns how many. Called in
/// the thread that makes an object, with no lock of this driver held. Null: no such language.
using Origin = std::size_t (*)(char* text, std::size_t size);
void set_origin(Origin origin);

/// Where the calling thread is: in its own language if there is one, else the function that called this driver.
std::string caller();

/// Writes what is alive, if that was asked for. What a thread made that still runs is in use and not reported, unless
/// that thread is the one that ends the process.
void report_at_exit();

}  // namespace cucore::cpu::runtime::live_objects
