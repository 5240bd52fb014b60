// CUCORE_TRACE: the timeline of a process that uses this driver, in the core's format (docs/tracing.md). Threads have a
// slice for each driver call that they make and each kernel that they compile; streams one for each piece of work.
//
// The core writes its own calls, and the work that they queue, where it runs in the process: it joins this file, and
// says of its threads' calls that it writes them (cucore_cpu_trace_caller). So no event is there twice.
//
// Without the variable all this costs a load and a branch for each call and piece of work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cpu/runtime/process/trace_file.hpp"

namespace cucore::cpu::runtime::trace {

namespace detail {
inline std::atomic<bool> is_active{false};
bool is_callers() noexcept;
}  // namespace detail

/// Opens the file that CUCORE_TRACE names, the first time. A file that cannot be opened is said on standard error.
void start();

/// Whether there is a trace; what the thread does is not for the caller to write.
inline bool is_on() noexcept { return detail::is_active.load(std::memory_order_relaxed) && !detail::is_callers(); }

/// Whether there is a trace, whoever writes the calls.
inline bool is_open() noexcept { return detail::is_active.load(std::memory_order_relaxed); }

/// For those who have events of their own: an event of trace_file.hpp. The row of the calling thread.
void write(std::string event) noexcept;
Row thread_row();

/// The core's side of it; see cucore_cpu.h.
bool join();
void end(std::string last) noexcept;
void set_caller_writes(bool writes) noexcept;

/// A call of the driver API: its slice, if it is the outermost one. `function`: has the entry's name in its own.
class Call {
 public:
  explicit Call(const char* function) {
    if (is_on()) begin(function);
  }
  ~Call() {
    if (record_) finish();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool is_written() const noexcept { return record_ != nullptr; }
  /// The result's name, if the call fails.
  void set_failure(const char* result) noexcept { failure_ = result; }

  struct Record {
    std::string name;
    Nanoseconds begin = 0;
    std::string work = {};  ///< the name of what it queues, if that has one of its own
    Arguments arguments = {};
    std::uint64_t arrow = 0;
  };

 private:
  void begin(const char* function);
  void finish() noexcept;

  std::unique_ptr<Record> record_;
  const char* failure_ = nullptr;
};

/// What the thread's call is about, for its slice and that of the work it queues. `name`: of that work; empty: after
/// the call. Nothing where no call is written.
void describe(std::string_view name, const Arguments& arguments);

/// What will be written of a piece of work.
struct Note {
  Row row;
  std::string name;
  Arguments arguments;
  std::uint64_t arrow = 0;  ///< from the call to the work; 0: none
  bool is_mark = false;     ///< a point in time
};

/// A stream as it is drawn.
struct Lane {
  std::uint64_t id;  ///< unique in the process
  int device;
  std::string_view device_name;
  std::string_view name;
};

/// Of what the calling thread queues now.
std::unique_ptr<Note> note_for(const Lane& lane);

/// While it stands the work of `note` runs; null: nothing is written.
class Running {
 public:
  explicit Running(const Note* note) {
    if (note != nullptr) begin(note);
  }
  ~Running() {
    if (note_ != nullptr) finish();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  friend std::unique_ptr<Note> note_for_part(std::string_view name, const Arguments& arguments);
  friend void add_to_work(std::string_view name, std::string_view text);
  void begin(const Note* note) noexcept;
  void finish() noexcept;

  const Note* note_ = nullptr;
  Running* outer_ = nullptr;
  Nanoseconds begin_ = 0;
  Arguments more_;  ///< the note's and what was added; empty: nothing was
};

/// An argument of the work that runs on this thread, known only now; nothing where none is written.
void add_to_work(std::string_view name, std::string_view text);

/// Part of the work that runs on this thread (a graph's node): the note for a slice in its slice; null if none runs.
std::unique_ptr<Note> note_for_part(std::string_view name, const Arguments& arguments);

/// Something that this thread does besides, such as a compile: a slice on the thread's row while it stands.
class Slice {
 public:
  Slice(std::string_view category, std::string name);
  ~Slice();
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

  /// It is not written: nothing came of it.
  void drop() noexcept { begin_ = 0; }

  Arguments arguments;

 private:
  std::string category_, name_;
  Nanoseconds begin_;
};

}  // namespace cucore::cpu::runtime::trace
