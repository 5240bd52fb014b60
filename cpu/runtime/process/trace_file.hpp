// The file of a trace (docs/tracing.md): an array of Chrome trace events, a line each, as the core writes it too, which
// this room knows nothing of.
//
// Each event is one write(2) at the end of the file, so events of all threads are whole and in it at once: a process
// that is killed leaves an array without its closing bracket, which viewers read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace cucore::cpu::runtime::trace {

using Nanoseconds = std::int64_t;

/// CLOCK_MONOTONIC, as in the core's traces.
Nanoseconds now() noexcept;

/// Where an event is drawn: a row of a group of rows.
struct Row {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

/// Members of a JSON object. Bytes that are no UTF-8 become "?".
class Arguments {
 public:
  Arguments& add(std::string_view name, std::string_view text);
  Arguments& add(std::string_view name, std::uint64_t number);
  /// `value` is JSON already.
  Arguments& raw(std::string_view name, std::string_view value);
  Arguments& address(std::string_view name, std::uint64_t value);
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// An event of the format: `phase` "X" is a slice, "B" and "E" its ends, "i" a mark, "M" a name, "s" and "f" an arrow.
std::string event(char phase, std::string_view name, std::string_view category, Row row, Nanoseconds at,
                  const Arguments& arguments = {}, std::string_view more = {});
/// A slice.
std::string slice(std::string_view name, std::string_view category, Row row, Nanoseconds begin, Nanoseconds end,
                  const Arguments& arguments);

class File {
 public:
  /// Replaces what is there. `path`: "%p" becomes the process id. Empty: done; else why not.
  std::string open(std::string path);
  bool is_open() const noexcept { return descriptor_.load(std::memory_order_relaxed) >= 0; }
  void write(std::string event) noexcept;
  /// Ends the array with a last event; later events are dropped.
  void close(std::string last) noexcept;
  /// Forgets the file without touching it.
  void abandon() noexcept { descriptor_.store(-1); }

 private:
  void write_whole(int descriptor, std::string_view text) noexcept;

  std::atomic<int> descriptor_{-1};
};

}  // namespace cucore::cpu::runtime::trace
