// What the driver reports in words, kept for cuLogsDumpTo* and passed on to registered callbacks. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cucore::cpu::runtime::logs {

/// The oldest messages are dropped when all together need more. A single longer one is cut.
inline constexpr std::size_t room_bytes = 25600;

void add(const std::string& message);

/// `callback` gets every message from now on, on the thread that reports, until it is unregistered.
CUlogsCallbackHandle register_callback(CUlogsCallback callback, void* data);
/// False if the handle is none. A call in progress on another thread may still end after this.
bool unregister_callback(CUlogsCallbackHandle handle);

/// The position after the last message.
CUlogIterator current();
/// Messages from `*from` on (null: all), a line or more each, with a line before them if older ones are missing, in at
/// most `room` bytes. Moves `*from` behind the last. False: `*from` is not a place, or not even the last message fits.
bool take(CUlogIterator* from, std::size_t room, std::string* text);

}  // namespace cucore::cpu::runtime::logs
