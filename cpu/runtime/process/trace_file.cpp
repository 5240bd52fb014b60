// Trace events and their file: see trace_file.hpp.
#include "cpu/runtime/process/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cucore::cpu::runtime::trace {
namespace {

/// Chrome's time stamps are microseconds.
std::string microseconds(Nanoseconds at) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3f", static_cast<double>(at) / 1000.0);
  return digits;
}

/// How many bytes the UTF-8 sequence at the beginning of `text` has; 0 if there is none.
std::size_t sequence(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return size;
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const std::size_t size = sequence(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (size == 0) {
      json += '?';
    } else if (c < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      json += code;
    } else {
      if (c == '"' || c == '\\') json += '\\';
      json += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return json + '"';
}

}  // namespace

Nanoseconds now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Arguments& Arguments::raw(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  text_ += quoted(name) + ':';
  text_ += value;
  return *this;
}

Arguments& Arguments::add(std::string_view name, std::string_view text) { return raw(name, quoted(text)); }

Arguments& Arguments::add(std::string_view name, std::uint64_t number) { return raw(name, std::to_string(number)); }

Arguments& Arguments::address(std::string_view name, std::uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return add(name, digits);
}

std::string event(char phase, std::string_view name, std::string_view category, Row row, Nanoseconds at,
                  const Arguments& arguments, std::string_view more) {
  std::string text = R"({"ph":")" + std::string{phase} + R"(","name":)" + quoted(name) + R"(,"cat":)" +
                     quoted(category) + R"(,"pid":)" + std::to_string(row.process) + R"(,"tid":)" +
                     std::to_string(row.thread) + R"(,"ts":)" + microseconds(at);
  text += more;
  if (!arguments.empty()) text += R"(,"args":{)" + arguments.text() + '}';
  return text + '}';
}

std::string slice(std::string_view name, std::string_view category, Row row, Nanoseconds begin, Nanoseconds end,
                  const Arguments& arguments) {
  return event('X', name, category, row, begin, arguments,
               R"(,"dur":)" + microseconds(std::max<Nanoseconds>(end - begin, 0)));
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
        std::fprintf(stderr, "cucore CPU device: CUCORE_TRACE: the trace ends early: %s\n", std::strerror(errno));
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void File::write(std::string event) noexcept {
  const int descriptor = descriptor_.load(std::memory_order_relaxed);
  if (descriptor < 0) return;
  event += ",\n";
  write_whole(descriptor, event);
}

void File::close(std::string last) noexcept {
  // The descriptor stays open: another thread may be about to write with it.
  const int descriptor = descriptor_.exchange(-1);
  if (descriptor < 0) return;
  last += "\n]\n";
  write_whole(descriptor, last);
}

}  // namespace cucore::cpu::runtime::trace
