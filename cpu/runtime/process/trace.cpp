// The trace of the process: see trace.hpp.
#include "cpu/runtime/process/trace.hpp"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime::trace {

namespace {

/// Rows of streams have numbers that no thread's and no lane of the core's has.
constexpr std::int64_t first_stream = 1'000'000'000;

struct Trace {
  File file;
  std::atomic<std::uint64_t> next_arrow{std::uint64_t{1} << 32};  ///< the core's begin with 1
  std::mutex mutex;
  int joined = 0;                 ///< how many others end the file
  std::set<std::uint64_t> lanes;  ///< streams and devices whose names are in the file
  std::set<int> devices;
};

Trace& trace() {
  static auto* const instance = new Trace;  // never destroyed, as all of the driver
  return *instance;
}

// Plain values: threads that end may still call.
thread_local Call::Record* current = nullptr;
thread_local Running* running = nullptr;
thread_local bool is_named = false;
thread_local bool caller_writes = false;

void abandon_in_child() {
  detail::is_active.store(false);
  trace().file.abandon();
}

void finish(int, void*) {
  {
    const std::lock_guard lock(trace().mutex);
    if (trace().joined > 0) return;  // they end it
  }
  end(event('i', "exit", "process", {getpid(), static_cast<int>(syscall(SYS_gettid))}, now()));
}

/// "cuMemAlloc" of "cuMemAlloc_v2", or of a longer text that has it in it.
std::string entry_in(std::string_view function) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t at = function.find("cu"); at != std::string_view::npos; at = function.find("cu", at + 1)) {
    const bool begins = at == 0 || letters.find(function[at - 1]) == std::string_view::npos;
    const std::string_view name = function.substr(at, function.find_first_not_of(letters, at) - at);
    if (begins && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z') return std::string(name);
  }
  return std::string(function);
}

/// "Memcpy" of "cuMemcpyAsync".
std::string work_of(std::string_view call) {
  if (call.starts_with("cu")) call.remove_prefix(2);
  if (const std::size_t at = call.find("Async"); at != std::string_view::npos) call = call.substr(0, at);
  return std::string(call);
}

}  // namespace

bool detail::is_callers() noexcept { return caller_writes; }

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string path = setting(Setting::trace).value_or("");
    if (path.empty()) return;
    if (const std::string why = trace().file.open(path); !why.empty()) {
      std::fprintf(stderr, "cucore CPU device: CUCORE_TRACE: no trace is written: cannot open %s\n", why.c_str());
      return;
    }
    Arguments program;
    program.add("name", program_invocation_short_name);
    trace().file.write(event('M', "process_name", "__metadata", {getpid(), 0}, 0, program));
    pthread_atfork(nullptr, nullptr, abandon_in_child);
    ::on_exit(finish, nullptr);  // as in process.cpp
    detail::is_active.store(true);
  });
}

void write(std::string event) noexcept { trace().file.write(std::move(event)); }

Row thread_row() {
  const Row row{getpid(), static_cast<int>(syscall(SYS_gettid))};
  if (!std::exchange(is_named, true)) {
    std::array<char, 32> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    Arguments name;
    name.add("name", text.data());
    write(event('M', "thread_name", "__metadata", row, 0, name));
  }
  return row;
}

bool join() {
  start();
  if (!is_open()) return false;
  const std::lock_guard lock(trace().mutex);
  ++trace().joined;
  return true;
}

void end(std::string last) noexcept {
  {
    const std::lock_guard lock(trace().mutex);
    trace().joined = std::max(0, trace().joined - 1);
    if (trace().joined > 0) return write(std::move(last));
  }
  detail::is_active.store(false);
  trace().file.close(std::move(last));
}

void set_caller_writes(bool writes) noexcept { caller_writes = writes; }

// ---- calls ---------------------------------------------------------------------------------------------------------

void Call::begin(const char* function) {
  if (current != nullptr) return;  // an entry that calls another one
  record_ = std::make_unique<Record>(Record{.name = entry_in(function), .begin = now()});
  current = record_.get();
}

void Call::finish() noexcept {
  current = nullptr;
  const Row row = thread_row();
  if (failure_ != nullptr) record_->arguments.add("result", failure_);
  write(slice(record_->name, "driver", row, record_->begin, now(), record_->arguments));
  if (record_->arrow != 0)
    write(event('s', "launch", "flow", row, record_->begin, {}, ",\"id\":" + std::to_string(record_->arrow)));
}

void describe(std::string_view name, const Arguments& arguments) {
  if (current == nullptr) return;
  current->work = name;
  current->arguments = arguments;
}

// ---- work ----------------------------------------------------------------------------------------------------------

std::unique_ptr<Note> note_for(const Lane& lane) {
  if (!is_on()) return nullptr;
  auto note = std::make_unique<Note>();
  note->row = {(lane.device + 1) * std::int64_t{10'000'000} + getpid(), first_stream + static_cast<int>(lane.id)};
  {
    Arguments name;
    const std::lock_guard lock(trace().mutex);
    if (trace().devices.insert(lane.device).second) {
      name.add("name", "device " + std::to_string(lane.device) + ": " + std::string(lane.device_name));
      write(event('M', "process_name", "__metadata", {note->row.process, 0}, 0, name));
    }
    name = {};
    if (trace().lanes.insert(lane.id).second)
      write(event('M', "thread_name", "__metadata", note->row, 0, name.add("name", lane.name)));
  }
  if (current == nullptr) {
    note->name = "work";
    return note;
  }
  note->is_mark = current->name.starts_with("cuEventRecord");
  note->name = note->is_mark ? "event" : current->work.empty() ? work_of(current->name) : current->work;
  note->arguments = current->arguments;
  if (!note->is_mark) {
    if (current->arrow == 0) current->arrow = trace().next_arrow.fetch_add(1);
    note->arrow = current->arrow;
  }
  return note;
}

std::unique_ptr<Note> note_for_part(std::string_view name, const Arguments& arguments) {
  if (running == nullptr) return nullptr;
  return std::make_unique<Note>(Note{.row = running->note_->row, .name = std::string(name), .arguments = arguments});
}

void Running::begin(const Note* note) noexcept {
  note_ = note;
  outer_ = std::exchange(running, this);
  begin_ = now();
}

void add_to_work(std::string_view name, std::string_view text) {
  if (running == nullptr) return;
  if (running->more_.empty()) running->more_ = running->note_->arguments;
  running->more_.add(name, text);
}

void Running::finish() noexcept {
  running = outer_;
  if (note_->is_mark)
    return write(event('i', note_->name, "device", note_->row, begin_, note_->arguments, R"(,"s":"t")"));
  write(slice(note_->name, "device", note_->row, begin_, now(), more_.empty() ? note_->arguments : more_));
  if (note_->arrow != 0)
    write(event('f', "launch", "flow", note_->row, begin_, {},
                ",\"id\":" + std::to_string(note_->arrow) + R"(,"bp":"e")"));
}

// ---- other slices --------------------------------------------------------------------------------------------------

Slice::Slice(std::string_view category, std::string name)
    : category_(category), name_(std::move(name)), begin_(is_open() ? now() : 0) {}

Slice::~Slice() {
  if (begin_ != 0) write(slice(name_, category_, thread_row(), begin_, now(), arguments));
}

}  // namespace cucore::cpu::runtime::trace
