// Trace events and their file: see trace_file.hpp.
#include "src/driver/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "src/formats/json_text.hpp"

namespace cucore::driver::trace {
namespace {

// Chrome's time stamps are microseconds.
void append_time(std::string& text, Nanoseconds at) {
  std::array<char, 32> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.3f", static_cast<double>(at) / 1000.0);
  text.append(digits.data(), static_cast<std::size_t>(length));
}

}  // namespace

Nanoseconds now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Arguments::key(std::string_view name) {
  if (!text_.empty()) text_ += ',';
  detail::append_json_text(text_, name);
  text_ += ':';
}

Arguments& Arguments::add(std::string_view name, std::string_view value) {
  key(name);
  detail::append_json_text(text_, value);
  return *this;
}

Arguments& Arguments::add(std::string_view name, std::int64_t number) {
  key(name);
  text_ += std::to_string(number);
  return *this;
}

Arguments& Arguments::add(std::string_view name, std::uint64_t number) {
  key(name);
  text_ += std::to_string(number);
  return *this;
}

Arguments& Arguments::address(std::string_view name, std::uint64_t value) {
  std::array<char, 24> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "0x%llx", static_cast<unsigned long long>(value));
  return add(name, std::string_view(digits.data(), static_cast<std::size_t>(length)));
}

Event::Event(char phase, std::string_view name, std::string_view category, Place place, Nanoseconds at)
    : phase_(phase) {
  text_.reserve(256);
  text_ += R"({"ph":")";
  text_ += phase;
  text_ += R"(","name":)";
  detail::append_json_text(text_, name);
  text_ += R"(,"cat":)";
  detail::append_json_text(text_, category);
  text_ += R"(,"pid":)" + std::to_string(place.process) + R"(,"tid":)" + std::to_string(place.thread) + R"(,"ts":)";
  append_time(text_, at);
}

Event& Event::duration(Nanoseconds length) {
  text_ += R"(,"dur":)";
  append_time(text_, length < 0 ? 0 : length);
  return *this;
}

Event& Event::flow(std::uint64_t id) {
  text_ += R"(,"id":)" + std::to_string(id);
  if (phase_ == 'f') text_ += R"(,"bp":"e")";
  return *this;
}

Event& Event::arguments(const Arguments& arguments) {
  text_ += R"(,"args":{)" + arguments.text() + '}';
  return *this;
}

std::string Event::text() && {
  text_ += '}';
  return std::move(text_);
}

std::string File::open(std::string path) {
  const std::string process = std::to_string(getpid());
  if (const std::size_t at = path.find("%p"); at != std::string::npos) path.replace(at, 2, process);
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), flags, 0644);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    // Another process, perhaps the parent, writes its trace there.
    ::close(descriptor);
    path += "." + process;
    descriptor = ::open(path.c_str(), flags, 0644);
  }
  if (descriptor < 0) return path + ": " + std::strerror(errno);
  if (ftruncate(descriptor, 0) != 0 && errno != EINVAL) {  // a pipe cannot be cut, and need not be
    const std::string why = path + ": " + std::strerror(errno);
    ::close(descriptor);
    return why;
  }
  write_whole(descriptor, "[\n");
  descriptor_.store(descriptor);
  return {};
}

void File::write_whole(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      // A full disk: the trace ends here, the program does not.
      if (descriptor_.exchange(-1) >= 0)
        std::fprintf(stderr, "cucore: CUCORE_TRACE: the trace ends early: %s\n", std::strerror(errno));
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void File::join(Writer writer) noexcept {
  if (const int own = descriptor_.exchange(-1); own >= 0) ::close(own);
  writer_ = writer;
}

void File::abandon() noexcept {
  descriptor_.store(-1);
  writer_ = {};
}

void File::write(Event event) noexcept {
  if (writer_.write != nullptr) {
    const std::string text = std::move(event).text();
    return writer_.write(text.data(), text.size());
  }
  const int descriptor = descriptor_.load(std::memory_order_relaxed);
  if (descriptor < 0) return;
  std::string line = std::move(event).text();
  line += ",\n";
  write_whole(descriptor, line);
}

void File::close(Event last) noexcept {
  if (writer_.end != nullptr) {  // and stays: other threads may be about to write, which is dropped there
    const std::string text = std::move(last).text();
    return writer_.end(text.data(), text.size());
  }
  // The descriptor stays open: another thread may be about to write with it.
  const int descriptor = descriptor_.exchange(-1);
  if (descriptor < 0) return;
  std::string line = std::move(last).text();
  line += "\n]\n";
  write_whole(descriptor, line);
}

}  // namespace cucore::driver::trace
