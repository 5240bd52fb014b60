// The file of a trace: an array of Chrome trace events, a line each.
//
// Each event is one write(2) at the end of the file, so events of all threads are whole and in it at once: a process
// that is killed leaves an array without its closing bracket, which Perfetto reads. Thread-safe, without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cucore::driver::trace {

using Nanoseconds = std::int64_t;

/// CLOCK_MONOTONIC.
Nanoseconds now() noexcept;

/// The "args" of an event.
class Arguments {
 public:
  Arguments& add(std::string_view name, std::string_view text);
  Arguments& add(std::string_view name, std::int64_t number);
  Arguments& add(std::string_view name, std::uint64_t number);
  Arguments& address(std::string_view name, std::uint64_t value);
  const std::string& text() const { return text_; }

 private:
  void key(std::string_view name);

  std::string text_;
};

/// Where an event is drawn.
struct Place {
  int process = 0;
  int thread = 0;
};

/// One event being put together: {"ph":"X","name":...}
class Event {
 public:
  Event(char phase, std::string_view name, std::string_view category, Place place, Nanoseconds at);
  Event& duration(Nanoseconds length);
  Event& flow(std::uint64_t id);
  Event& arguments(const Arguments& arguments);
  std::string text() &&;

 private:
  char phase_;
  std::string text_;
};

/// Another library of the process that has the file open and writes for us: the CPU device (cpu/api/cucore_cpu.h).
struct Writer {
  void (*write)(const char* event, std::size_t size) = nullptr;
  void (*end)(const char* last_event, std::size_t size) = nullptr;
};

class File {
 public:
  /// From now on all goes there. A file of our own is given up. Before other threads write.
  void join(Writer writer) noexcept;
  /// Replaces what is there. `path`: "%p" becomes the process id. Empty: done; else why not.
  std::string open(std::string path);
  bool is_open() const noexcept { return writer_.write != nullptr || descriptor_.load(std::memory_order_relaxed) >= 0; }
  void write(Event event) noexcept;
  /// Ends the array with a last event; later events are dropped.
  void close(Event last) noexcept;
  /// Forgets the file without touching it.
  void abandon() noexcept;

 private:
  void write_whole(int descriptor, std::string_view text) noexcept;

  std::atomic<int> descriptor_{-1};
  Writer writer_;
};

}  // namespace cucore::driver::trace
